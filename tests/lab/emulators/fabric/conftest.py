# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch and its users, each at a terminal: lines reach it as its SSH server gives them."""

from __future__ import annotations

import json

import pytest

from lab.emulators.common import Device
from lab.emulators.fabric.__main__ import system


class Room:
    """One switch, its clock, and terminals of several users."""

    def __init__(self, root, name, platform, ports):
        self.clock = root / "clock"
        self.pass_to(0)
        self.device = Device(root / "leaf1", self.clock)
        kind = system(name)
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


@pytest.fixture
def platform():
    """The hardware; none: the system's own choice."""
    return ""


@pytest.fixture
def room(request, tmp_path, platform):
    """A new switch of the system whose folder the test is in."""
    return Room(tmp_path, request.path.parent.name, platform, 4)
