# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The table of checks of a proof and of health, for docs/concepts/proof-checks.md."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import STATE, WATCH
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.load import LOAD_CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state import STATE_CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch import WATCH_CHECKS

PAGES = {STATE: "", WATCH: ""}
"""Page with the heading of a check, by kind; empty: the page of the table."""


def table() -> str:
    """A line for each check, in the order in which they run. Health alone runs those that watch."""
    lines = ["| check | kind | explained | what a failure means |", "|---|---|---|---|"]
    for check in (*STATE_CHECKS, *WATCH_CHECKS, *LOAD_CHECKS):
        link = f"{PAGES.get(check.kind, 'proof-limits.md')}#{check.page.lower().replace(' ', '-')}"
        lines.append(f"| {check.name} | {check.kind} | [{check.page}]({link}) | {check.meaning} |")
    return "\n".join([*lines, ""])
