# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated switch whose configuration is nested objects, on loopback, as emulated_switch.py has one with EOS."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import Dialect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import NOBODY, Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import Switch

from lab.emulators.common import Device
from tests.unit.emulated_switch import QUICK, Leaf


@dataclass
class ModelSwitch:
    """A running switch, over SSH and from behind. A system adds what it is."""

    directory: Path
    keys: Path
    port: int

    tool: ClassVar[str]
    dialect: ClassVar[Dialect]
    profile: ClassVar[SwitchProfile]
    factory: ClassVar[dict[str, Any]]

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
        leaf = Leaf(self.directory, self.keys, self.port)
        switch = Switch(leaf.login, self.dialect, want or self.profile, QUICK)
        try:
            yield switch
        finally:
            switch.close()

    def converge(self, check: bool = False, want: SwitchProfile | None = None, traffic: Traffic = NOBODY) -> Outcome:
        """One run."""
        wanted = want or self.profile
        with self.switch(wanted) as switch:
            steps = partial(plan, self.dialect, traffic=traffic)
            return converge(switch, steps, self.dialect.render(wanted), check)

    def fault(self, effect: str, match: str, times: int | None = 1) -> None:
        """Arm a fault."""
        faults = [{"tool": self.tool, "match": match, "effect": effect, "times": times}]
        self.directory.mkdir(exist_ok=True)
        (self.directory / "faults.json").write_text(json.dumps(faults))

    def armed(self) -> bool:
        """Whether a fault still waits for its line."""
        return (self.directory / "faults.json").read_text() != "[]"

    @contextlib.contextmanager
    def state(self) -> Iterator[dict[str, Any]]:
        """Work on the state from behind."""
        with self.device.state(self.factory) as state:
            yield state

    def journal(self) -> list[dict[str, Any]]:
        """Everything since the last look; it begins anew."""
        calls = self.device.calls()
        (self.directory / "journal.jsonl").unlink(missing_ok=True)
        return calls
