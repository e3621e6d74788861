# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A task's result, as callbacks get it, as plain data."""

from __future__ import annotations

from typing import Any

from ..module_utils.drawbridge.report.collect import Event
from .internals import role_of
from .releases import data_of, host_of, task_of


def event(kind: str, result: Any) -> Event:
    """The result as an event of a report."""
    task = task_of(result)
    role = role_of(task)
    name = role.get_name(include_role_fqcn=False) if role else ""
    host = "" if task.run_once else host_of(result)
    return Event(kind, host, name, str(task.name or task.action), data_of(result))
