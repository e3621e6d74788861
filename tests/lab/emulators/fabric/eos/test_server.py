# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The process: keys, terminals, one-line commands, and a memory that outlives it."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import asyncssh
import pytest

REPOSITORY = Path(__file__).parents[5]
BOUND_SECONDS = 120


@pytest.fixture
def process(tmp_path, keys):
    """Start the switch as the lab does; give a function that does so again."""
    started = []

    def start():
        argv = [sys.executable, "-m", "lab.emulators.fabric", "eos", "--name", "spine1", "--listen", "127.0.0.1:0"]
        argv += ["--directory", str(tmp_path / "spine1"), "--clock", str(tmp_path / "clock"), "--platform", "jericho"]
        argv += ["--host-key", str(keys / "host"), "--authorized-key", str(keys / "operator.pub"), "--port-count", "4"]
        one = subprocess.Popen(argv, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        started.append(one)
        assert one.stdout
        said = one.stdout.readline()
        assert said.startswith("spine1 listens on 127.0.0.1:")
        return one, int(said.rpartition(":")[2])

    yield start
    for one in started:
        one.kill()
        one.wait(BOUND_SECONDS)
        one.stdout.close()


def talk(port, keys, *lines, key="operator", user="admin", command="", terminal="vt100"):
    """Type lines into a terminal, or run one command; return all that came back."""

    async def conversation():
        options = {"known_hosts": ([asyncssh.read_public_key(str(keys / "host.pub"))], [], []), "username": user}
        async with asyncssh.connect("127.0.0.1", port, client_keys=[str(keys / key)], **options) as connection:
            if command:
                return str((await connection.run(command, timeout=BOUND_SECONDS)).stdout)
            typed = "\r".join([*lines, ""])
            return str((await connection.run(input=typed, term_type=terminal or None, timeout=BOUND_SECONDS)).stdout)

    return asyncio.run(conversation())


def test_what_was_committed_and_what_waits_outlive_the_process(process, keys):
    one, port = process()
    staged = ["enable", "configure session a", "interface et1", "mtu 9000", "commit timer 00:05:00", "exit"]
    talk(port, keys, *staged)
    one.terminate()
    assert one.wait(BOUND_SECONDS) == 0
    _, port = process()
    assert "mtu 9000" in talk(port, keys, command="show running-config interfaces Ethernet1")
    assert "Session with pending commit timer: a" in talk(port, keys, command="show configuration sessions detail")


def test_a_killed_process_rolls_back_when_it_is_up_again(process, keys, tmp_path):
    one, port = process()
    talk(port, keys, "enable", "configure session a", "interface et1", "mtu 9000", "commit timer 00:05:00", "exit")
    one.kill()
    one.wait(BOUND_SECONDS)
    (tmp_path / "clock").write_text("301")
    _, port = process()
    assert "mtu" not in talk(port, keys, command="show running-config interfaces Ethernet1")


def test_only_the_right_key_comes_in(leaf, keys):
    with pytest.raises(asyncssh.PermissionDenied):
        talk(leaf.port, keys, "enable", key="host")
    with pytest.raises(asyncssh.PermissionDenied):
        talk(leaf.port, keys, "enable", user="nobody")


def test_a_terminal_echoes_and_knows_backspace(leaf, keys):
    shown = talk(leaf.port, keys, "enablr\x7fe", "show hostnane\b\bme", "exit")
    assert "Hostname: leaf1" in shown
    assert shown.endswith("leaf1#exit\r\n")


def test_a_pipe_gets_no_echo(leaf, keys):
    shown = talk(leaf.port, keys, "show hostname", "exit", terminal="")
    assert "show hostname" not in shown
    assert "Hostname: leaf1" in shown


def test_prompts_follow_the_mode(leaf, keys):
    lines = [
        "enable",
        "configure",
        "qos profile ROCE",
        "uc-tx-queue 3",
        "exit",
        "interface Et 2",
        "uc-tx-queue 3",
        "hostname a",
    ]
    shown = talk(leaf.port, keys, *lines, "end", "exit")
    assert re.findall(r"^\S+[>#]", shown.replace("\r", ""), re.M) == [
        "leaf1>",
        "leaf1#",
        "leaf1(config)#",
        "leaf1(config-qos-profile-ROCE)#",
        "leaf1(config-qos-profile-ROCE-uc-txq-3)#",
        "leaf1(config-qos-profile-ROCE)#",
        "leaf1(config-if-Et2)#",
        "leaf1(config-if-Et2-uc-txq-3)#",
        "a(config)#",
        "a#",
    ]


def test_a_port_that_is_not_there_is_warned_of(leaf, keys):
    shown = talk(leaf.port, keys, "enable", "configure", "interface Ethernet77", "end", "exit")
    assert "! Interface does not exist. The configuration will not take effect until the module is inserted." in shown


def test_long_output_waits_for_a_key_unless_the_terminal_is_endless(leaf, keys):
    last = "ip address 10.77.1.41/24"
    paged = talk(leaf.port, keys, "enable", "show running-config", "", "exit").replace("\r", "")
    assert paged.count("--More--") == 1
    assert last in paged
    assert "--More--" not in talk(leaf.port, keys, "enable", "terminal length 0", "show running-config", "exit")
