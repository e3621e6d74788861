# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.gate_io import (
    Receiver,
    wait_for,
)

from tests.waiting import until

HOST, LONG_S = "127.0.0.1", 60.0

Made = Callable[..., tuple[Receiver, int]]


class Sender(threading.Thread):
    """A sender that waits."""

    def __init__(self, port: int, name: str, key: str = "0 a", wait_s: float = LONG_S) -> None:
        super().__init__(daemon=True)
        self._asked = (HOST, port, key, name, time.monotonic() + wait_s)
        self.went: bool | None = None
        self.start()

    def run(self) -> None:
        self.went = wait_for(*self._asked)

    def answer(self) -> bool | None:
        self.join(LONG_S)
        return self.went


@pytest.fixture
def receiver() -> Iterator[Made]:
    made: list[Receiver] = []

    def make(senders: Collection[str] = ("b", "c"), port: int = 0) -> tuple[Receiver, int]:
        found = Receiver(port, {"0 a": senders, "0 b": senders}, HOST)
        made.append(found)
        return found, found._server.getsockname()[1]

    yield make
    for it in made:
        it.close()


def came(gate: Receiver, *names: str, key: str = "0 a") -> None:
    until(lambda: gate._waiting[key].keys() >= {*names}, LONG_S, f"{names} came")


def test_senders_begin_when_all_have_come_and_servers_listen(receiver: Made) -> None:
    gate, port = receiver()
    first = Sender(port, "b")
    gate.open("0 a")
    came(gate, "b")
    assert first.went is None
    assert (Sender(port, "c").answer(), first.answer(), gate.missing("0 a", LONG_S)) == (True, True, set())


def test_servers_that_do_not_listen_yet_hold_senders_back(receiver: Made) -> None:
    gate, port = receiver()
    senders = [Sender(port, "b"), Sender(port, "c")]
    came(gate, "b", "c")
    gate.open("0 b")
    assert [it.went for it in senders] == [None, None]
    gate.open("0 a")
    assert [it.answer() for it in senders] == [True, True]


def test_a_missing_sender_is_named_and_the_others_begin(receiver: Made) -> None:
    gate, port = receiver()
    gate.open("0 a")
    sender = Sender(port, "b")
    came(gate, "b")
    assert (gate.missing("0 a", 0.1), sender.answer()) == ({"c"}, True)
    late = Sender(port, "c", wait_s=0.5)
    assert late.answer() is False, "its servers may be gone"


def test_a_node_that_was_missing_before_is_not_waited_for(receiver: Made) -> None:
    gate, port = receiver()
    gate.open("0 b", {"c"})
    assert (Sender(port, "b", "0 b").answer(), gate.missing("0 b", LONG_S)) == (True, set())


@pytest.mark.parametrize("said", [b"0 a x\n", b"0 z b\n", b"\n", b"", b"\xff\xfe b\n", b"0 a b" * 100])
def test_others_are_ignored(receiver: Made, said: bytes) -> None:
    gate, port = receiver(["b"])
    gate.open("0 a")
    with socket.create_connection((HOST, port)) as peer:
        peer.sendall(said)
        peer.shutdown(socket.SHUT_WR)
        peer.settimeout(LONG_S)
        assert peer.recv(10) == b""
    assert Sender(port, "b").answer()


def test_a_sender_may_come_before_its_receiver(receiver: Made) -> None:
    gate, port = receiver(["b"])
    gate.close()
    sender = Sender(port, "b")
    again, _port = receiver(["b"], port)
    again.open("0 a")
    assert sender.answer()


def test_a_closed_gate_gives_its_port_back_and_lets_no_sender_wait(receiver: Made) -> None:
    gate, port = receiver()
    gate.close()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((HOST, port))
    assert Sender(port, "b", wait_s=0.3).answer() is False


def test_a_port_that_is_taken_is_an_error(receiver: Made) -> None:
    _gate, port = receiver()
    with pytest.raises(OSError, match="in use"):
        receiver(port=port)
