# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated SONiC switch on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import copy
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.text import DIALECT

from lab.emulators.fabric.sonic import configdb
from tests.unit import emulated_switch
from tests.unit.emulated_model_switch import ModelSwitch
from tests.unit.emulated_switch import PORTS, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a SONiC switch would have it."""
    names = tuple(f"Ethernet{number * 4}" for number in range(ports))
    return replace(emulated_switch.profile(), platform="sonic", asic="xgs", ports=names)


class Sonic(ModelSwitch):
    """A SONiC switch."""

    tool = "sonic"
    dialect = DIALECT
    profile = profile()
    factory = configdb.factory("leaf1", "xgs", PORTS, "10.77.1.41")

    def edit(self, what: Callable[[dict[str, Any]], None]) -> None:
        """Let another operator change and save ConfigDB."""
        with self.state() as state:
            what(state["running"])
            state["saved"] = copy.deepcopy(state["running"])

    def config(self, which: str = "running") -> dict[str, Any]:
        """ConfigDB, or the saved file."""
        with self.state() as state:
            return copy.deepcopy(state[which])

    def flaps(self) -> dict[str, int]:
        """How often each port went down."""
        with self.state() as state:
            return {port: it["flaps"] for port, it in state["ports"].items()}

    def units(self) -> list[str]:
        """Timers that run, and jobs that failed."""
        with self.state() as state:
            return list(state["units"])


def start(folder: Path) -> tuple[Sonic, subprocess.Popen[str]]:
    """Start a SONiC switch."""
    port, process = serve(folder, "sonic")
    return Sonic(folder / "leaf1", folder, port), process
