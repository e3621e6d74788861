# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated Cumulus Linux switch on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import DIALECT

from lab.emulators.fabric.nvue import revisions, tree
from tests.unit import emulated_switch
from tests.unit.emulated_model_switch import ModelSwitch
from tests.unit.emulated_switch import PORTS, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a Cumulus switch would have it."""
    names = tuple(f"swp{number}" for number in range(1, ports + 1))
    return replace(emulated_switch.profile(), platform="nvue", asic="spectrum", ports=names)


class Cumulus(ModelSwitch):
    """A Cumulus Linux switch."""

    tool = "nvue"
    dialect = DIALECT
    profile = profile()
    factory = revisions.factory("leaf1", "spectrum", PORTS, "10.77.1.41")

    def type(self, *lines: str) -> None:
        """Put edits in force and save them, as another user does: `set ...` or `unset ...`."""
        with self.state() as state:
            for line in lines:
                verb, *words = line.split()
                revisions.edit(state, "noc", verb, words)
            revisions.apply(state, "noc", 0, 0, "")

    def lines(self, which: str = "applied") -> list[str]:
        """What runs, as `nv config show -o commands` prints it, port by port."""
        with self.state() as state:
            spread = {**state[which]}
            return sorted(
                f"{' '.join(path)}{'' if value == {} else f' {value}'}" for path, value in tree.leaves(spread)
            )

    def waiting(self) -> bool:
        """Whether a revision waits for its confirmation."""
        with self.state() as state:
            return bool(state["confirm"])


def start(folder: Path) -> tuple[Cumulus, subprocess.Popen[str]]:
    """Start a Cumulus switch."""
    port, process = serve(folder, "nvue")
    return Cumulus(folder / "leaf1", folder, port), process
