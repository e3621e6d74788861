# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether the nodes of a job have the same GPUs and instances: all its pods have one template."""

from __future__ import annotations

import re

from ..gate.command import Commands
from ..gate.config import Refused

SOCKETS = re.compile(r"\(S:[^)]*\)")
"""Slurm appends the sockets of devices, in parentheses."""
NOTHING = "(null)"


def require_alike(nodelist: str, commands: Commands) -> None:
    """Refuse nodes whose GPUs differ. Without Slurm's answer the pods start, and one that fits nowhere says so."""
    result = commands.run("sinfo", "--noheader", "--all", f"--nodes={nodelist}", "--format=%G")
    found = unlike(result.out) if result.code == 0 else []
    if found:
        raise Refused(
            f"the job's nodes have different GPUs ({' and '.join(found)}), but its pods are all alike: "
            "choose one build with --constraint"
        )


def unlike(text: str) -> list[str]:
    """The GPUs of unlike nodes, in the lines of sinfo; none if all nodes are alike. Pure."""
    lines = {SOCKETS.sub("", line.strip()) for line in text.splitlines() if line.strip()}
    found = sorted("none" if line == NOTHING else line for line in lines)
    return found if len(found) > 1 else []
