# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of checks of a proof, for docs/concepts/proof-checks.md."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import STATE
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.table import CHECKS

PAGES = {STATE: ""}
"""Page with the heading of a check, by kind; empty: the page of the table."""


def table() -> str:
    """A line for each check, in the order in which they run."""
    lines = ["| check | kind | explained | what a failure means |", "|---|---|---|---|"]
    for check in CHECKS:
        link = f"{PAGES.get(check.kind, 'proof-limits.md')}#{check.page.lower().replace(' ', '-')}"
        lines.append(f"| {check.name} | {check.kind} | [{check.page}]({link}) | {check.meaning} |")
    return "\n".join([*lines, ""])
