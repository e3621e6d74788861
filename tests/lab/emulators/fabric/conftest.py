# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch and its users, each at a terminal: lines reach it as its SSH server gives them."""

from __future__ import annotations

import json

import pytest

from lab.emulators.common import Device
from lab.emulators.fabric.__main__ import system as system_of


class Room:
    """One switch, its clock, which stands still, and terminals of several users."""

    def __init__(self, root, name, platform, ports):
        self.clock = root / "clock"
        self.pass_to(0)
        self.device = Device(root / "leaf1", self.clock)
        self.device.now = lambda: float(self.clock.read_text())
        kind = system_of(name)
        self.switch = kind.make(self.device, "leaf1", platform or kind.platforms[0], ports, "10.77.1.41")
        self.terminals = {}

    def type(self, *lines, user="admin", effect=None):
        """Type lines; return what the last one shows."""
        cli = self.terminals.setdefault(user, self.switch.cli(user, f"vty-{user}", once=False))
        return [self.switch.execute(cli, line, effect) for line in lines][-1]

    def prompt(self, user="admin"):
        return self.switch.prompt(self.terminals[user]).strip().replace("\r", "")

    def leave(self, user="admin"):
        self.switch.logged_out(self.terminals.pop(user))

    def pass_to(self, second):
        self.clock.write_text(str(second))

    @property
    def state(self):
        with self.device.state() as state:
            return json.loads(json.dumps(state))

    def flaps(self):
        return [port["flaps"] for port in self.state["ports"].values()]

    def running(self):
        """Return the lines that run, without indentation; blocks keep their order."""
        printed = self.switch.terminal.language.render(self.state["running"])
        return [line.strip() for line in printed if line.strip(" !")]


@pytest.fixture
def platform():
    """The hardware; none: the system's own choice."""
    return ""


@pytest.fixture
def system(request):
    """The system: the one that the test's file is named after."""
    return request.path.stem.split("_")[1]


@pytest.fixture
def room(tmp_path, system, platform):
    """A new switch of the system."""
    return Room(tmp_path, system, platform, 4)
