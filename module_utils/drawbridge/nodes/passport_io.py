# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Asks the program that judges this node's passport, on a node whose class needs one."""

from __future__ import annotations

from pathlib import Path

from ..core.command import Run
from ..core.converge import DeviceError

PROGRAM = "/usr/local/sbin/drawbridge-passport"
PART = "60-passport"
"""The health check's part that runs it."""
REASON = f"drawbridge: health: {PART}: "
"""The start of the drain reason of a node without a valid passport. The proof of the node may lift that drain."""


def unproved(run: Run, program: str) -> str:
    """Why the node lacks a valid passport; empty if it has one, or if there is no program to ask."""
    try:
        return run([program, "look"], ok=(0, 1)).out.strip() if program else ""
    except DeviceError as err:
        return str(err)


def installed() -> str:
    """The program's path; empty on a node that needs no passport."""
    return PROGRAM if Path(PROGRAM).exists() else ""
