# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated SONiC switch on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import contextlib
import copy
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import NOBODY, Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import Switch

from lab.emulators.common import Device
from lab.emulators.fabric.sonic import configdb
from tests.unit import emulated_switch
from tests.unit.emulated_switch import PORTS, QUICK, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a SONiC switch would have it."""
    names = tuple(f"Ethernet{number * 4}" for number in range(ports))
    return replace(emulated_switch.profile(), platform="sonic", asic="xgs", ports=names)


@dataclass
class Sonic:
    """A running switch, over SSH and from behind."""

    directory: Path
    keys: Path
    port: int

    @property
    def device(self) -> Device:
        """Its state, journal and faults."""
        return Device(self.directory, self.keys / "clock")

    def reset(self) -> None:
        """As it left the factory."""
        for name in ("state.json", "journal.jsonl", "faults.json"):
            (self.directory / name).unlink(missing_ok=True)
        (self.keys / "clock").write_text("0")

    @contextlib.contextmanager
    def switch(self, want: SwitchProfile | None = None) -> Iterator[Switch]:
        """The device under test."""
        leaf = emulated_switch.Leaf(self.directory, self.keys, self.port)
        switch = Switch(leaf.login, DIALECT, want or profile(), QUICK)
        try:
            yield switch
        finally:
            switch.close()

    def converge(self, check: bool = False, want: SwitchProfile | None = None, traffic: Traffic = NOBODY) -> Outcome:
        """One run."""
        wanted = want or profile()
        with self.switch(wanted) as switch:
            steps = partial(plan, DIALECT, traffic=traffic)
            return converge(switch, steps, DIALECT.render(wanted), check)

    def fault(self, effect: str, match: str, times: int | None = 1) -> None:
        """Arm a fault."""
        faults = [{"tool": "sonic", "match": match, "effect": effect, "times": times}]
        self.directory.mkdir(exist_ok=True)
        (self.directory / "faults.json").write_text(json.dumps(faults))

    @contextlib.contextmanager
    def state(self) -> Iterator[dict[str, Any]]:
        """Work on the state from behind."""
        with self.device.state(configdb.factory("leaf1", "xgs", PORTS, "10.77.1.41")) as state:
            yield state

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

    def journal(self) -> list[dict[str, Any]]:
        """Everything since the last look; it begins anew."""
        calls = self.device.calls()
        (self.directory / "journal.jsonl").unlink(missing_ok=True)
        return calls


def start(folder: Path) -> tuple[Sonic, subprocess.Popen[str]]:
    """Start a SONiC switch."""
    port, process = serve(folder, "sonic")
    return Sonic(folder / "leaf1", folder, port), process
