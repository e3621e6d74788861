# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import logging
import re
import shlex
import socket
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric import session_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import SLOW
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import DIALECT
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.session_io import (
    CONNECT_S,
    NetmikoSession,
    Refused,
    _any_time,
    _attentive,
    _lasting,
)
from netmiko import BaseConnection

from tests.unit.emulated_switch import ROOT, Leaf


def test_an_interface_description_that_looks_like_a_prompt_does_not_end_an_answer(leaf: Leaf) -> None:
    leaf.type("interface Ethernet1", "description leaf1# (config)#")
    session = NetmikoSession(leaf.login, DIALECT, 60)
    assert session.send("show running-config").rstrip().endswith("end")
    session.close()


def test_a_refusal_leaves_the_session_usable(leaf: Leaf) -> None:
    session = NetmikoSession(leaf.login, DIALECT, 60)
    with pytest.raises(Refused, match="leaf1 refused 'show nonsense': % Invalid input"):
        session.send("show nonsense")
    assert "leaf1" in session.send("show hostname")
    session.close()


@pytest.mark.parametrize(("line", "times"), [("show hostname", 1), ("write memory", SLOW)])
def test_a_line_that_gets_no_answer_ends_with_its_own_limit(leaf: Leaf, line: str, times: int) -> None:
    leaf.fault("hang", f"^{line}")
    session = NetmikoSession(leaf.login, replace(DIALECT, slow="^write"), 60)
    session._timeout_s = 0.5
    with pytest.raises(DeviceError, match=f"^leaf1 gave no answer within {0.5 * times:g} s to '{line}'$"):
        session.send(line)
    session.close()


@pytest.mark.parametrize(
    ("first", "later", "lasting"),
    [
        ("leaf1 12:00:01", "leaf1 12:00:59", "leaf1"),
        ("[9:05:01.123] leaf1", "[10:15:02.001] leaf1", "] leaf1"),
        ("leaf1", "leaf1", "leaf1"),
    ],
)
def test_a_prompt_with_a_clock_is_the_same_prompt_later(first: str, later: str, lasting: str) -> None:
    assert re.fullmatch(_any_time(first), later)
    assert not re.fullmatch(_any_time(first), later.replace("leaf1", "leaf2"))
    assert _lasting(first) == lasting


def test_a_log_line_does_not_break_an_answer(leaf: Leaf) -> None:
    leaf.fault("syslog", "show hostname")
    session = NetmikoSession(leaf.login, DIALECT, 60)
    assert "ConfigAgent" not in session.send("show hostname")
    session.close()


@pytest.mark.parametrize(
    ("match", "words"),
    [
        (
            "^terminal width",
            r"leaf1 \(.* port [0-9]+\) can't be reached by SSH: the switch closed the connection",
        ),
        ("^enable", "leaf1 lets admin in, but not into privileged mode: the switch closed the connection"),
    ],
)
def test_a_connection_that_drops_during_the_login_is_noticed_at_once(leaf: Leaf, match: str, words: str) -> None:
    leaf.fault("die", match)
    begun = time.monotonic()
    with pytest.raises(DeviceError, match=words):
        NetmikoSession(leaf.login, DIALECT, CONNECT_S)
    assert time.monotonic() - begun < CONNECT_S, "the time to wait for one answer, without that for the login"


def test_a_switch_that_ends_the_session_alone_has_dropped_the_connection(leaf: Leaf) -> None:
    session = NetmikoSession(leaf.login, DIALECT, 60)
    begun = time.monotonic()
    with pytest.raises(DeviceError, match=r"^leaf1 dropped the connection at 'exit'$"):
        session.send("exit")
    assert time.monotonic() - begun < 30
    session.close()


def test_an_answer_before_the_end_of_the_session_is_read(leaf: Leaf) -> None:
    leaf.fault("leave", "show hostname")
    session = NetmikoSession(leaf.login, DIALECT, 60)
    assert session.send("show hostname").splitlines() == ["Hostname: leaf1", "FQDN:     leaf1"]
    with pytest.raises(DeviceError, match="leaf1 dropped the connection at 'show hostname'"):
        session.send("show hostname")
    session.close()


@pytest.mark.parametrize("end", ["closed", "eof_received"])
def test_the_last_words_may_arrive_with_the_end_while_the_channel_is_read(end: str) -> None:
    class Leaving(BaseConnection):
        def __init__(self) -> None:
            self.remote_conn: Any = SimpleNamespace(closed=False, eof_received=False)
            self.arrives = iter(("", "bye"))

        def read_channel(self) -> str:
            setattr(self.remote_conn, end, True)
            return next(self.arrives, "")

    connection = _attentive(Leaving)()
    assert [connection.read_channel(), connection.read_channel()] == ["", "bye"]
    with pytest.raises(EOFError):
        connection.read_channel()


def test_a_connection_that_drops_behind_a_jump_host_is_noticed(
    leaf: Leaf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # as in a run, where no handler takes what libraries log
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    relay = shlex.join((sys.executable, str(ROOT / "bench/relay.py"), str(tmp_path), "127.0.0.1", str(leaf.login.port)))
    config = tmp_path / "ssh_config"
    config.write_text(f"Host *\n  ProxyCommand {relay}\n")
    monkeypatch.setattr(session_io, "KEEPALIVE_S", 0.2)
    session = NetmikoSession(replace(leaf.login, ssh_config_file=str(config)), DIALECT, 60)
    connection: Any = session._connection
    transport = connection.remote_conn.transport
    leaf.fault("die", "show hostname")
    begun = time.monotonic()
    with pytest.raises(DeviceError, match=r"^leaf1 dropped the connection at 'show hostname'$"):
        session.send("show hostname")
    assert time.monotonic() - begun < 30
    transport.join()
    with transport.sock.process:
        session.close()
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("known", ["none", "another"])
def test_an_unknown_host_key_is_refused(leaf: Leaf, tmp_path: Path, known: str) -> None:
    file = tmp_path / "known_hosts"
    public = " ".join(Path(f"{leaf.login.key_file}.pub").read_text().split()[:2])
    file.write_text(f"[127.0.0.1]:{leaf.login.port} {public}\n" if known == "another" else "")
    with pytest.raises(DeviceError, match=f"has a host key that {file} does not hold; compare it on the switch"):
        NetmikoSession(replace(leaf.login, known_hosts_file=str(file)), DIALECT, 60)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("host", "does not let admin in with the key .*host; set ansible_user"),
        ("nowhere", "there is no key .*nowhere; correct ansible_ssh_private_key_file"),
    ],
)
def test_a_key_that_the_switch_does_not_take_or_that_is_not_there(leaf: Leaf, key: str, says: str) -> None:
    with pytest.raises(DeviceError, match=says):
        NetmikoSession(replace(leaf.login, key_file=str(leaf.keys / key)), DIALECT, 60)


def test_a_closed_port_is_named(leaf: Leaf) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(DeviceError, match=rf"leaf1 \(127.0.0.1 port {port}\) can't be reached by SSH: TCP connection"):
        NetmikoSession(replace(leaf.login, port=port), DIALECT, 60)


def test_a_line_that_is_slow_has_more_time_and_the_next_one_has_not(
    leaf: Leaf, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = NetmikoSession(leaf.login, replace(DIALECT, slow="show hostname"), 60)
    connection: Any = session._connection
    limits: list[float] = []
    send = connection.send_command

    def sent(line: str, **named: Any) -> str:
        limits.append(connection.read_timeout_override)
        return send(line, **named)

    monkeypatch.setattr(connection, "send_command", sent)
    session.send("show hostname")
    session.send("show running-config")
    session.close()
    assert limits == [300, 60]
