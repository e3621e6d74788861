# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated switches on loopback, each a process of its own, as adapters and actions meet them: over SSH."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.login import Login
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import (
    Dialect,
    dialect,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import CANDIDATE, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import NO_NODES, Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import (
    Limits,
    Switch,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.view import switch_profile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from netmiko import base_connection

from lab.emulators.common import Device
from lab.emulators.fabric.__main__ import system as emulator
from tests.unit.module_utils.site.test_refused import site

ROOT = Path(__file__).resolve().parents[2]
PORTS = 4
QUICK = Limits(answer_s=60, confirm_s=300, settle_s=0.5)
HOUR_S = 3600
FRONT = {
    "eos": ("xgs", "Ethernet{}", 1, 1),
    "nvue": ("spectrum", "swp{}", 1, 1),
    "sonic": ("xgs", "Ethernet{}", 0, 4),
    "nxos": ("cloudscale", "Ethernet1/{}", 1, 1),
    "junos": ("tomahawk3", "et-0/0/{}", 0, 1),
    "os10": ("xgs", "ethernet1/1/{}", 1, 1),
}
"""The ASIC of each system's switch, and its ports: their name, the first number, and the step to the next."""


def profile(system: str = "eos", ports: int = 2) -> SwitchProfile:
    """The lab's profile of a leaf, as a switch of this system would have it. Every port costs seconds."""
    asic, name, first, step = FRONT[system]
    whole = switch_profile(part("fabric", site("lab")["drawbridge_fabric"]), "leaf1")
    names = tuple(name.format(first + number * step) for number in range(ports))
    return replace(whole, platform=system, asic=asic, ports=names)


def pass_silence(monkeypatch: pytest.MonkeyPatch, armed: Callable[[], bool]) -> None:
    """Let an hour pass for netmiko as soon as a fault has struck. Before, its clock is the real one."""
    clock = SimpleNamespace(time=lambda: time.time() + (0 if armed() else HOUR_S), sleep=time.sleep)
    monkeypatch.setattr(base_connection, "time", clock)


@dataclass
class Emulated:
    """A running switch, over SSH and from behind. A system adds what it is."""

    directory: Path
    keys: Path
    port: int

    system: ClassVar[str]
    opens: ClassVar[tuple[str, ...]] = ("configure terminal",)
    closes: ClassVar[tuple[str, ...]] = ("end", "write memory")
    """What another user types before and after his lines, so that they are in force and saved."""
    running: ClassVar[str] = "running"
    waits: ClassVar[str] = "pending"
    """Keys of the emulator's state: what runs, and what waits for its confirmation or its commit."""

    @property
    def dialect(self) -> Dialect:
        """What the switch speaks."""
        return dialect(self.system)

    @property
    def profile(self) -> SwitchProfile:
        """What a run makes of it."""
        return profile(self.system)

    @property
    def device(self) -> Device:
        """Its state, journal and faults."""
        return Device(self.directory, self.keys / "clock")

    @property
    def login(self) -> Login:
        """How to get in."""
        return Login("leaf1", "127.0.0.1", self.port, "admin", str(self.keys / "user"), str(self.keys / "known_hosts"))

    @classmethod
    def factory(cls) -> dict[str, Any]:
        """The state of a new switch."""
        return emulator(cls.system).factory("leaf1", FRONT[cls.system][0], PORTS, "10.77.1.41")

    @classmethod
    def configure(cls, state: dict[str, Any], lines: tuple[str, ...], now: float) -> None:
        """Put lines in force, as another user does. Raises Refused."""
        cli = emulator(cls.system).terminal("noc", "vty9")
        for line in (*cls.opens, *lines, *cls.closes):
            cli.run(state, line, now)

    @classmethod
    def lines_of(cls, configuration: Any) -> list[str]:
        """The lines of a configuration, each after its headers."""
        found, above = [], [(-1, "")]
        for line in filter(str.strip, emulator(cls.system).terminal.language.render(configuration)):
            depth = len(line) - len(line.lstrip())
            above = [it for it in above if it[0] < depth]
            above.append((depth, f"{above[-1][1]} {line.strip()}".strip()))
            found.append(above[-1][1])
        return found

    def reset(self) -> None:
        """As it left the factory."""
        for name in ("state.json", "journal.jsonl", "faults.json"):
            (self.directory / name).unlink(missing_ok=True)
        self.pass_time(0)

    @contextlib.contextmanager
    def switch(self, want: SwitchProfile | None = None, limits: Limits = QUICK) -> Iterator[Switch]:
        """The device under test."""
        switch = Switch(self.login, self.dialect, want or self.profile, limits)
        try:
            yield switch
        finally:
            switch.close()

    def converge(
        self,
        check: bool = False,
        want: SwitchProfile | None = None,
        traffic: Traffic = NO_NODES,
        limits: Limits = QUICK,
    ) -> Outcome:
        """One run."""
        wanted = want or self.profile
        with self.switch(wanted, limits) as switch:
            steps = partial(plan, self.dialect, traffic=traffic)
            return converge(switch, steps, self.dialect.render(wanted), check)

    def leave_unproven(self, confirm_s: int = 300) -> None:
        """Make a switch whose change is in force, and whose run was killed before the proof."""
        before = self.lines()
        with self.switch(limits=replace(QUICK, confirm_s=confirm_s)) as switch:
            steps = plan(self.dialect, switch.read(), self.dialect.render(self.profile))
            switch._try_out([line for step in steps if step.payload.place == CANDIDATE for line in step.payload.lines])
        assert self.lines() != before

    def fault(self, effect: str, match: str, times: int | None = 1) -> None:
        """Arm a fault, also those that only a terminal has."""
        faults = [{"tool": self.system, "match": match, "effect": effect, "times": times}]
        self.directory.mkdir(exist_ok=True)
        (self.directory / "faults.json").write_text(json.dumps(faults))

    def armed(self) -> bool:
        """Whether a fault still waits for its line."""
        return (self.directory / "faults.json").read_text() != "[]"

    @contextlib.contextmanager
    def state(self) -> Iterator[dict[str, Any]]:
        """Work on the state from behind."""
        with self.device.state(self.factory()) as state:
            yield state

    def type(self, *lines: str) -> None:
        """Put lines in force and save them, as another user does."""
        with self.state() as state:
            self.configure(state, lines, self.device.now())

    def lines(self, which: str = "") -> list[str]:
        """What runs, or another configuration that the state has."""
        with self.state() as state:
            return self.lines_of(state[which or self.running])

    def waiting(self) -> bool:
        """Whether a change waits for its confirmation, or for its commit."""
        with self.state() as state:
            return bool(state[self.waits])

    def flaps(self) -> list[int]:
        """How often each port went down."""
        with self.state() as state:
            return [port["flaps"] for port in state["ports"].values()]

    def pass_time(self, seconds: int) -> None:
        """Move the lab's clock."""
        (self.keys / "clock").write_text(str(seconds))

    def journal(self) -> list[dict[str, Any]]:
        """Everything since the last look; it begins anew."""
        calls = self.device.calls()
        (self.directory / "journal.jsonl").unlink(missing_ok=True)
        return calls


class Leaf(Emulated):
    """A switch with EOS."""

    system = "eos"
    opens = ("enable", "configure terminal")

    def sessions(self) -> dict[str, str]:
        """Sessions that are not over, with their state."""
        with self.state() as state:
            return {n: s["state"] for n, s in state["candidates"].items() if s["state"] != "completed"}

    def waiting(self) -> bool:
        """Whether a session is open, or in force for a time."""
        return bool(self.sessions())
