# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A task's result, as callbacks get it, as plain data."""

from __future__ import annotations

from typing import Any

from ..module_utils.drawbridge.report.collect import Event


def event(kind: str, result: Any) -> Event:
    """The result as an event of a report."""
    task = result.task
    role = task._role.get_name(include_role_fqcn=False) if task._role else ""
    host = "" if task.run_once else result.host.get_name()
    return Event(kind, host, role, str(task.name or task.action), result.result)
