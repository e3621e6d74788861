# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated Cisco Nexus on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nxos.text import DIALECT

from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.nxos.cli import Cli
from lab.emulators.fabric.nxos.language import NXOS
from lab.emulators.fabric.nxos.lines import CLOUDSCALE
from tests.unit import emulated_switch
from tests.unit.emulated_model_switch import ModelSwitch
from tests.unit.emulated_switch import PORTS, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a Nexus would have it."""
    names = tuple(f"Ethernet1/{number}" for number in range(1, ports + 1))
    return replace(emulated_switch.profile(), platform="nxos", asic=CLOUDSCALE, ports=names)


class Nexus(ModelSwitch):
    """A Nexus 9000 switch."""

    tool = "nxos"
    dialect = DIALECT
    profile = profile()
    factory = stages.factory("leaf1", CLOUDSCALE, PORTS, "10.77.1.41")

    def type(self, *lines: str) -> None:
        """Put lines in force and save them, as another user does."""
        with self.state() as state:
            cli = Cli("noc", "vty9")
            for line in ("configure terminal", *lines, "end", "copy running-config startup-config"):
                cli.run(state, line, self.device.now())

    def lines(self, which: str = "running") -> list[str]:
        """What runs, each line below its header."""
        with self.state() as state:
            found, above = [], [""]
            for line in filter(None, NXOS.render(state[which])):
                depth = (len(line) - len(line.lstrip())) // 2
                above = [*above[: depth + 1], f"{above[depth]} {line.strip()}"]
                found.append(above[-1].strip())
            return found

    def waiting(self) -> bool:
        """Whether a commit waits for its confirmation."""
        with self.state() as state:
            return bool(state["pending"])

    def pass_time(self, seconds: int) -> None:
        """Move the lab's clock."""
        (self.keys / "clock").write_text(str(seconds))


def start(folder: Path) -> tuple[Nexus, subprocess.Popen[str]]:
    """Start a Nexus switch."""
    port, process = serve(folder, "nxos")
    return Nexus(folder / "leaf1", folder, port), process
