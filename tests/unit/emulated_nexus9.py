# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated Cisco Nexus whose release has no two-stage commits."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import ClassVar

from tests.unit.emulated_nexus import Nexus
from tests.unit.emulated_switch import serve


class Nexus9(Nexus):
    """A Nexus 9000 switch with NX-OS 9.3."""

    factory: ClassVar = {**Nexus.factory, "version": "9.3(13)"}

    def reset(self) -> None:
        """As it left the factory, with its release."""
        super().reset()
        with self.state() as state:
            state["version"] = self.factory["version"]  # the switch's own clock may have made the state anew

    def waiting(self) -> bool:
        """Whether a schedule has its time before it."""
        return any("time start" in line for line in self.lines())


def start(folder: Path) -> tuple[Nexus9, subprocess.Popen[str]]:
    """Start a Nexus switch."""
    port, process = serve(folder, "nxos")
    return Nexus9(folder / "leaf1", folder, port), process
