# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NIC firmware through mlxconfig, or mstconfig, which is the same tool of mstflint."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from ...core.command import Run
from ...core.converge import DeviceError
from .firmware import parameters

TOOLS = ("mlxconfig", "mstconfig")
PARTLY = 3
"""The exit code of every error. The tool ends so too when only some parameters can't be read, and prints the others."""


def tool() -> str:
    """The tool of this host, "" for none."""
    return next((name for name in TOOLS if shutil.which(name)), "")


def read(run: Run, pci: str, names: Sequence[str] = ()) -> dict[str, tuple[str, str]]:
    """Parameters of one PCI function; without names all, so that one that the firmware lacks does no harm."""
    program = tool()
    if not program:
        raise DeviceError(
            "this host has parameters of firmware to compare, but neither mlxconfig nor mstconfig; install mstflint"
        )
    done = run([program, "-d", pci, "-e", "query", *names], ok=(0, PARTLY))
    found = parameters(done.out)
    if done.rc and not found:
        error = next((line for line in done.out.splitlines() if line.startswith("-E-")), "no output")
        raise DeviceError(f"{program} -d {pci} failed: {error}", stdout=done.out, stderr=done.err)
    return found


def write(run: Run, pci: str, changes: Mapping[str, str]) -> None:
    """Set values for the next boot. Raises DeviceError."""
    run([tool(), "-d", pci, "-y", "set", *(f"{name}={value}" for name, value in changes.items())])
