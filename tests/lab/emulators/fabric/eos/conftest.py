# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A switch on loopback, and netmiko in front of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh
import netmiko
import pytest

from lab.emulators.common import Device
from lab.emulators.fabric.eos import sessions
from lab.emulators.fabric.eos.switch import Switch
from lab.emulators.fabric.eos.tree import EOS
from lab.emulators.fabric.server import Keys, serve
from tests.waiting import until

BOUND_SECONDS = 120


@dataclass
class Leaf:
    """A running switch, as tests see it: over SSH, and from behind."""

    device: Device
    port: int
    key: Path
    clock: Path
    open: list[netmiko.BaseConnection] = field(default_factory=list)

    def connect(self, *, enable=True):
        """Log in as operators' tools do."""
        connection = netmiko.ConnectHandler(
            device_type="arista_eos",
            host="127.0.0.1",
            port=self.port,
            username="admin",
            use_keys=True,
            key_file=str(self.key),
            auto_connect=True,
            fast_cli=True,
            global_delay_factor=0.1,
            conn_timeout=BOUND_SECONDS,
            banner_timeout=BOUND_SECONDS,
            auth_timeout=BOUND_SECONDS,
            read_timeout_override=BOUND_SECONDS,
        )
        self.open.append(connection)
        if enable:
            connection.enable()
        return connection

    def wait(self, what):
        """Poll until a condition on the state holds."""
        return until(lambda: what(self.state), BOUND_SECONDS, f"the switch's state is right for {what}")

    @property
    def state(self):
        with self.device.state() as state:
            return json.loads(json.dumps(state))

    def fault(self, effect, match="", times=1):
        fault = {"tool": "eos", "match": match, "effect": effect, "times": times}
        (self.device.directory / "faults.json").write_text(json.dumps([fault]))

    def pass_time(self, seconds):
        self.clock.write_text(str(float(self.clock.read_text() or 0) + seconds))

    def running(self):
        """Return the lines that run, without indentation; blocks keep their order."""
        return [line.strip() for line in EOS.render(self.state["running"]) if line.strip() != "!"]

    def calls(self):
        """Return the journalled lines that users typed."""
        return [call for call in self.device.calls() if "line" in call]


@contextlib.contextmanager
def served(switch, keys):
    """Serve in a thread of its own, as the real one would on a machine of its own."""
    started: list[int] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def main():
        async with serve(switch, "127.0.0.1", 0, keys) as port:
            started.append(port)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()))
    thread.start()
    assert ready.wait(BOUND_SECONDS)
    try:
        yield started[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(BOUND_SECONDS)
        loop.close()


@pytest.fixture(scope="session")
def keys(tmp_path_factory):
    """Make the switch's key and the operator's, once."""
    home = tmp_path_factory.mktemp("keys")
    for name in ("host", "operator"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(str(home / name))
        key.write_public_key(str(home / f"{name}.pub"))
    return home


@pytest.fixture
def platform():
    return "xgs"


@contextlib.contextmanager
def switched_on(root, keys, platform):
    """Give a new switch whose files are under a directory, until the block ends."""
    clock = root / "clock"
    clock.write_text("0")
    device = Device(root / "leaf1", clock)
    switch = Switch(device, sessions.factory("leaf1", platform, 12, "10.77.1.41"))
    with served(switch, Keys(keys / "host", keys / "operator.pub")) as port:
        one = Leaf(device, port, keys / "operator", clock)
        try:
            yield one
        finally:
            for connection in one.open:
                with contextlib.suppress(Exception):
                    connection.disconnect()


@pytest.fixture
def leaf(tmp_path, keys, platform):
    with switched_on(tmp_path, keys, platform) as one:
        yield one


@pytest.fixture(scope="module")
def shared_leaf(tmp_path_factory, keys):
    """One switch for all tests of a file that only read what it shows."""
    with switched_on(tmp_path_factory.mktemp("leaf"), keys, "xgs") as one:
        yield one
