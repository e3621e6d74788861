# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed list of what a job's pods and workloads may say, as tables of docs/concepts/job-pods.md."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.containers import (
    CONTAINERS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.model import Level, Rows
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.pods import PODS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.closed_list.workloads import (
    WORKLOADS,
)


def tables() -> str:
    """A section for pods, one for containers and one for workloads."""
    return "\n".join(
        line
        for title, levels in (("Pods", PODS), ("Containers", CONTAINERS), ("Workloads", WORKLOADS))
        for line in (f"## {title}\n", "| object | fields | |", "|---|---|---|", *_rows(levels), "")
    )


def _rows(levels: dict[str, Level]) -> Iterator[str]:
    for name, level in levels.items():
        for state, rows in (("judged", level.judged), ("free", level.free), ("refused", level.refused)):
            for reason, fields in _by_reason(rows).items():
                told = f"{state}: {reason}" if reason else "judged field by field"
                yield f"| {name} | {', '.join(f'`{field}`' for field in fields)} | {told} |"


def _by_reason(rows: Rows) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for field, reason in sorted(rows.items()):
        found.setdefault(reason, []).append(field)
    return found
