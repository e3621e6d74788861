# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of findings of a node's health, for docs/guides/findings.md."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.rows import (
    EPILOG,
    HEALTH,
    PROLOG,
    ROWS,
)

PLACES = {HEALTH: "health check", PROLOG: "prolog", EPILOG: "epilog"}


def table() -> str:
    """A line for each row, in the order of the checks."""
    lines = ["| finding | fault | where |", "|---|---|---|"]
    for row in ROWS:
        where = ", ".join(PLACES[place] for place in row.where)
        link = f"[{row.check}](#{row.check.lower().replace(' ', '-')})"
        lines.append(f"| {link} | {row.fault} | {where} |")
    return "\n".join([*lines, ""])
