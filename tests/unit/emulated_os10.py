# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated Dell OS10 switch on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.text import DIALECT

from lab.emulators.fabric.os10 import transaction
from lab.emulators.fabric.os10.tree import OS10
from tests.unit import emulated_switch
from tests.unit.emulated_model_switch import ModelSwitch
from tests.unit.emulated_switch import PORTS, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a Dell switch would have it."""
    names = tuple(f"ethernet1/1/{number}" for number in range(1, ports + 1))
    return replace(emulated_switch.profile(), platform="os10", asic="xgs", ports=names)


class PowerSwitch(ModelSwitch):
    """A Dell switch with OS10."""

    tool = "os10"
    dialect = DIALECT
    profile = profile()
    factory = transaction.factory("leaf1", "xgs", PORTS, "10.77.1.41")

    def type(self, *lines: str, save: bool = True) -> None:
        """Put lines in force, as another user does: a line that no inner mode takes goes to an outer one."""
        with self.state() as state:
            path: list[str] = []
            mode = "config"
            for line in lines:
                if line == "exit":
                    path, mode = [], "config"
                else:
                    path, mode = OS10.apply(state["running"], path, mode, "xgs", line)
            if save:
                state["startup"] = state["running"]

    def lines(self, which: str = "running") -> list[str]:
        """What runs, or what a restart brings back."""
        with self.state() as state:
            return OS10.render(state[which])

    def waiting(self) -> bool:
        """Whether edits wait in the candidate."""
        with self.state() as state:
            return bool(state["candidates"])


def start(folder: Path) -> tuple[PowerSwitch, subprocess.Popen[str]]:
    """Start a Dell switch."""
    port, process = serve(folder, "os10")
    return PowerSwitch(folder / "leaf1", folder, port), process
