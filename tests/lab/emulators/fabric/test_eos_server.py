# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The process: keys, terminals, one-line commands, faults of a terminal, and a memory that outlives it."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import asyncssh
import pytest

from lab.emulators.common import Device

REPOSITORY = Path(__file__).parents[4]
BOUND_SECONDS = 120


class Process:
    """A switch as the lab starts it. `start` does so, and again."""

    def __init__(self, root):
        self.root = root
        for name in ("host", "operator"):
            key = asyncssh.generate_private_key("ssh-ed25519")
            key.write_private_key(str(root / name))
            key.write_public_key(str(root / f"{name}.pub"))

    def start(self):
        argv = [sys.executable, "-m", "lab.emulators.fabric", "eos", "--name", "leaf1", "--listen", "127.0.0.1:0"]
        argv += ["--directory", str(self.root / "leaf1"), "--clock", str(self.root / "clock"), "--port-count", "12"]
        argv += ["--host-key", str(self.root / "host"), "--authorized-key", str(self.root / "operator.pub")]
        self.process = subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        said = self.process.stdout.readline()
        assert said.startswith("leaf1 listens on 127.0.0.1:")
        self.port = int(said.rpartition(":")[2])

    def stop(self, how=subprocess.Popen.kill):
        with self.process:
            how(self.process)
            return self.process.wait(BOUND_SECONDS)

    def talk(self, *lines, key="operator", user="admin", command="", terminal="vt100"):
        """Type lines into a terminal, or run one command; return all that came back."""

        async def conversation():
            host = asyncssh.read_public_key(str(self.root / "host.pub"))
            options = {"known_hosts": ([host], [], []), "username": user, "client_keys": [str(self.root / key)]}
            async with asyncssh.connect("127.0.0.1", self.port, **options) as connection:
                if command:
                    done = await connection.run(command, timeout=BOUND_SECONDS)
                else:
                    typed = "\r".join([*lines, ""])
                    done = await connection.run(input=typed, term_type=terminal, timeout=BOUND_SECONDS)
                return str(done.stdout)

        return asyncio.run(conversation())


@pytest.fixture(scope="module")
def leaf(tmp_path_factory):
    process = Process(tmp_path_factory.mktemp("switch"))
    process.start()
    yield process
    process.stop()


def test_committed_lines_and_a_commit_timer_outlive_the_process(leaf):
    leaf.talk("enable", "configure session a", "interface et1", "mtu 9000", "commit timer 00:05:00", "exit")
    assert leaf.stop(subprocess.Popen.terminate) == 0
    leaf.start()
    assert "mtu 9000" in leaf.talk(command="show running-config interfaces Ethernet1")
    assert "Session with pending commit timer: a" in leaf.talk(command="show configuration sessions detail")
    leaf.stop()
    (leaf.root / "clock").write_text("301")
    leaf.start()
    assert "mtu" not in leaf.talk(command="show running-config interfaces Ethernet1")


@pytest.mark.parametrize("wrong", [{"key": "host"}, {"user": "nobody"}])
def test_only_the_right_key_and_user_come_in(leaf, wrong):
    with pytest.raises(asyncssh.PermissionDenied):
        leaf.talk("enable", **wrong)


def test_a_terminal_echoes_and_knows_backspace(leaf):
    shown = leaf.talk("enablr\x7fe", "show hostnane\b\bme", "exit")
    assert "Hostname: leaf1" in shown
    assert shown.endswith("leaf1#exit\r\n")


def test_a_pipe_gets_no_echo(leaf):
    shown = leaf.talk("show hostname", "exit", terminal=None)
    assert "show hostname" not in shown
    assert "Hostname: leaf1" in shown


def test_an_echo_may_crawl_and_a_log_line_burst_in_unless_the_terminal_said_no(leaf):
    device = Device(leaf.root / "leaf1")
    device.directory.joinpath("faults.json").write_text('[{"tool": "eos", "effect": "slow"}]')
    began = time.monotonic()
    assert "Hostname: leaf1" in leaf.talk("show hostname", "exit")
    assert time.monotonic() - began > 0.3
    for lines, logged in ((["show hostname"], True), (["no terminal monitor", "show hostname"], False)):
        burst = '[{"tool": "eos", "match": "show hostname", "effect": "syslog"}]'
        device.directory.joinpath("faults.json").write_text(burst)
        assert ("%SYS-5-CONFIG_I" in leaf.talk(*lines, "exit")) is logged
