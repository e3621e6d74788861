# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated Cumulus Linux switch on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import NOBODY, Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import Switch

from lab.emulators.common import Device
from lab.emulators.fabric.nvue import revisions, tree
from tests.unit import emulated_switch
from tests.unit.emulated_switch import PORTS, QUICK, serve


def profile(ports: int = 2) -> SwitchProfile:
    """The lab's profile, as a Cumulus switch would have it."""
    names = tuple(f"swp{number}" for number in range(1, ports + 1))
    return replace(emulated_switch.profile(), platform="nvue", asic="spectrum", ports=names)


@dataclass
class Cumulus:
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
        faults = [{"tool": "nvue", "match": match, "effect": effect, "times": times}]
        self.directory.mkdir(exist_ok=True)
        (self.directory / "faults.json").write_text(json.dumps(faults))

    @contextlib.contextmanager
    def state(self) -> Iterator[dict[str, Any]]:
        """Work on the state from behind."""
        with self.device.state(revisions.factory("leaf1", "spectrum", PORTS, "10.77.1.41")) as state:
            yield state

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

    def journal(self) -> list[dict[str, Any]]:
        """Everything since the last look; it begins anew."""
        calls = self.device.calls()
        (self.directory / "journal.jsonl").unlink(missing_ok=True)
        return calls


def start(folder: Path) -> tuple[Cumulus, subprocess.Popen[str]]:
    """Start a Cumulus switch."""
    port, process = serve(folder, "nvue")
    return Cumulus(folder / "leaf1", folder, port), process
