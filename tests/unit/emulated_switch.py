# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated switches as adapters and actions meet them: at a terminal of this process, or over SSH on loopback."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Outcome,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.login import Login
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import (
    SLOW,
    Dialect,
    dialect,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import CANDIDATE, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.session_io import (
    WHOLE,
    Refused,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import NO_NODES, Traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import (
    Limits,
    Switch,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.view import switch_profile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from lab.emulators.common import DIE, HANG, Device
from lab.emulators.fabric.__main__ import system as emulator
from lab.emulators.fabric.effects import LEAVE, REBOOT
from lab.emulators.fabric.switch import EmulatedSwitch
from tests.unit.module_utils.site.test_refused import site

ROOT = Path(__file__).resolve().parents[2]
PORTS = 4
QUICK = Limits(answer_s=60, confirm_s=300, settle_s=0.5)
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


class Terminal:
    """A user's terminal on an emulated switch of this process, for a run that needs neither SSH nor its waits."""

    numbers = itertools.count(100)

    def __init__(
        self, switch: EmulatedSwitch, prepares: tuple[str, ...], login: Login, dialect: Dialect, timeout_s: float
    ) -> None:
        self._switch, self._name, self._dialect, self._timeout_s = switch, login.name, dialect, timeout_s
        self._cli = switch.cli(login.user, f"vty{next(self.numbers)}", once=False)
        self._end = ""
        switch.logged_in(self._cli, "127.0.0.1")
        for line in (*prepares, *(["enable"] if dialect.enables else []), *dialect.opening):
            self.send(line)

    def send(self, line: str) -> str:
        """What the switch answers. Raises Refused, DeviceError."""
        typed = f"{line}{WHOLE}" if re.match(self._dialect.paged, line) else line
        effect = None if self._end or self._cli.over else self._switch.fault(typed)
        if effect == HANG:
            limit = self._timeout_s * (SLOW if re.match(self._dialect.slow, line) else 1)
            self._end = f"gave no answer within {limit:g} s to"
        if self._end or self._cli.over:
            raise DeviceError(f"{self._name} {self._end or 'dropped the connection at'} {line!r}")
        shown = self._switch.execute(self._cli, typed, effect)
        self._cli.over |= effect in (DIE, REBOOT, LEAVE)
        if effect in (DIE, REBOOT):
            raise DeviceError(f"{self._name} dropped the connection at {line!r}")
        if refusal := re.search(self._dialect.refusal, shown, re.MULTILINE):
            raise Refused(f"{self._name} refused {line!r}: {' '.join(refusal[0].split())}", stdout=shown)
        return shown

    def close(self) -> None:
        """Hang up."""
        self._switch.logged_out(self._cli)


@dataclass
class Emulated:
    """A switch on the line, over SSH, and from behind. A system adds what it is."""

    directory: Path
    keys: Path
    serve: Callable[[Emulated], int]
    """Starts its SSH server; the port."""

    over_ssh: bool = False

    system: ClassVar[str]
    prepares: ClassVar[tuple[str, ...]] = ("terminal width 511", "terminal length 0")
    """What netmiko types by itself after a login."""
    opens: ClassVar[tuple[str, ...]] = ("configure terminal",)
    closes: ClassVar[tuple[str, ...]] = ("end", "write memory")
    """What another user types before and after his lines, so that they are in force and saved."""
    version: ClassVar[str] = ""
    """Its release, if it is not the emulator's usual one."""
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

    @functools.cached_property
    def login(self) -> Login:
        """How to get in over SSH."""
        port = self.serve(self)
        return Login("leaf1", "127.0.0.1", port, "admin", str(self.keys / "user"), str(self.keys / "known_hosts"))

    @functools.cached_property
    def emulator(self) -> EmulatedSwitch:
        """The switch itself, in this process. Its SSH server is another one, over the same state."""
        return emulator(self.system)(self.device, self.factory())

    @classmethod
    def factory(cls) -> dict[str, Any]:
        """The state of a new switch."""
        new = emulator(cls.system).factory("leaf1", FRONT[cls.system][0], PORTS, "127.0.0.1")
        return {**new, "version": cls.version} if cls.version else new

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
        self.over_ssh = False
        self.pass_time(0)

    @contextlib.contextmanager
    def switch(self, want: SwitchProfile | None = None, limits: Limits = QUICK) -> Iterator[Switch]:
        """The device under test, at a terminal of this process, or over SSH."""
        given = self.dialect, want or self.profile, limits
        if self.over_ssh:
            switch = Switch(self.login, *given)
        else:
            switch = Switch(
                Login("leaf1", "127.0.0.1", 22, "admin"), *given, log_in=partial(Terminal, self.emulator, self.prepares)
            )
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
        """Work on the state from behind, once timers that have run out did their work."""
        self.emulator.tick()
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
