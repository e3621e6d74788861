# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated switch on loopback, a process of its own, as adapters and actions meet it: over SSH."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Outcome, converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.login import Login
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import SwitchProfile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.transaction_io import (
    Limits,
    Switch,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.view import switch_profile
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from netmiko import base_connection

from lab.emulators.common import Device
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.tree import EOS
from tests.unit.module_utils.site.test_refused import site

ROOT = Path(__file__).resolve().parents[2]
PORTS = 4
QUICK = Limits(answer_s=60, confirm_s=300, settle_s=0.5)
HOUR_S = 3600


def profile(name: str = "leaf1", ports: int = 2) -> SwitchProfile:
    """The lab's profile of a switch, on its first ports only: every port costs seconds."""
    whole = switch_profile(part("fabric", site("lab")["drawbridge_fabric"]), name)
    return replace(whole, ports=whole.ports[:ports])


def pass_silence(monkeypatch: pytest.MonkeyPatch, armed: Callable[[], bool]) -> None:
    """Let an hour pass for netmiko as soon as a fault has struck. Before, its clock is the real one."""
    clock = SimpleNamespace(time=lambda: time.time() + (0 if armed() else HOUR_S), sleep=time.sleep)
    monkeypatch.setattr(base_connection, "time", clock)


@dataclass
class Leaf:
    """A running switch, over SSH and from behind."""

    directory: Path
    keys: Path
    port: int

    @property
    def device(self) -> Device:
        """Its state, journal and faults."""
        return Device(self.directory, self.keys / "clock")

    @property
    def login(self) -> Login:
        """How to get in."""
        return Login("leaf1", "127.0.0.1", self.port, "admin", str(self.keys / "user"), str(self.keys / "known_hosts"))

    def reset(self) -> None:
        """As it left the factory."""
        for name in ("state.json", "journal.jsonl", "faults.json"):
            (self.directory / name).unlink(missing_ok=True)
        (self.keys / "clock").write_text("0")

    @contextlib.contextmanager
    def switch(self, limits: Limits = QUICK, want: SwitchProfile | None = None) -> Iterator[Switch]:
        """The device under test."""
        switch = Switch(self.login, DIALECT, want or profile(), limits)
        try:
            yield switch
        finally:
            switch.close()

    def converge(self, check: bool = False, want: SwitchProfile | None = None, limits: Limits = QUICK) -> Outcome:
        """One run."""
        wanted = want or profile()
        with self.switch(limits, wanted) as switch:
            return converge(switch, partial(plan, DIALECT), DIALECT.render(wanted), check)

    def fault(self, effect: str, match: str, times: int | None = 1) -> None:
        """Arm a fault, also those that only a terminal has."""
        faults = [{"tool": "eos", "match": match, "effect": effect, "times": times}]
        self.directory.mkdir(exist_ok=True)
        (self.directory / "faults.json").write_text(json.dumps(faults))

    def armed(self) -> bool:
        """Whether a fault still waits for its line."""
        return (self.directory / "faults.json").read_text() != "[]"

    def change(self, what: Callable[[dict[str, Any]], None]) -> None:
        """Work on the state from behind."""
        with self.device.state(sessions.factory("leaf1", "xgs", PORTS, "10.77.1.41")) as state:
            what(state)

    def type(self, *lines: str) -> None:
        """Type into the running configuration as another user: headers open blocks, `exit` leaves them."""

        def typed(state: dict[str, Any]) -> None:
            path: list[str] = []
            mode = "config"
            for line in lines:
                if line == "exit":
                    path, mode = [], "config"
                else:
                    path, mode = EOS.apply(state["running"], path, mode, "xgs", line)

        self.change(typed)

    def lines(self) -> list[str]:
        """What runs."""
        with self.device.state() as state:
            return EOS.render(state["running"])

    def sessions(self) -> dict[str, str]:
        """Sessions that are not over, with their state."""
        with self.device.state() as state:
            return {n: s["state"] for n, s in state["candidates"].items() if s["state"] != "completed"}

    def journal(self) -> list[dict[str, Any]]:
        """Everything since the last look; it begins anew."""
        calls = self.device.calls()
        (self.directory / "journal.jsonl").unlink(missing_ok=True)
        return calls


def serve(folder: Path, system: str) -> tuple[int, subprocess.Popen[str]]:
    """Start a switch on a free port of loopback."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    arguments = {
        "--name": "leaf1",
        "--listen": "127.0.0.1:0",
        "--directory": str(folder / "leaf1"),
        "--clock": str(folder / "clock"),
        "--host-key": str(folder / "host"),
        "--authorized-key": str(folder / "user.pub"),
        "--port-count": str(PORTS),
    }
    command = [
        sys.executable,
        "-m",
        "lab.emulators.fabric",
        system,
        *(word for pair in arguments.items() for word in pair),
    ]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    port = int(process.stdout.readline().rsplit(":", 1)[1])
    public = " ".join((folder / "host.pub").read_text().split()[:2])
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}\n")
    return port, process


def start(folder: Path) -> tuple[Leaf, subprocess.Popen[str]]:
    """Start an EOS switch."""
    port, process = serve(folder, "eos")
    return Leaf(folder / "leaf1", folder, port), process
