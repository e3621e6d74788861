# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the latest run left undone on a node. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from .model import CRITICAL, WARNING, Finding, Node

STEPS = {
    "pending": (WARNING, "pending", "a change waits", "run the playbook again when the reason has ended"),
    "refused": (WARNING, "refused", "a change needs a decision", "add the line that the text names; run again"),
    "failed": (CRITICAL, "failed", "a step failed", "repair the cause; run the playbook again"),
    "unreachable": (CRITICAL, "unreachable", "Ansible could not log in", "repair the login; run again"),
}


def findings(node: Node) -> Iterator[Finding]:
    """What a person should know of the latest run."""
    for kind, text in node.run.findings if node.run else ():
        level, word, cause, step = STEPS[kind]
        run = f"{node.run.playbook} of {node.run.started}" if node.run else ""
        yield Finding(level, word, f"{cause} since {run}: {text}", step)
