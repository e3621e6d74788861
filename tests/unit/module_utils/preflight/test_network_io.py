# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import network_io, work_io

from tests.unit.module_utils.preflight_site import WANT


def silent(argv: Any, ok: Any = (0,)) -> Completed:
    raise DeviceError("no answer")


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_names_resolve_or_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(name: str, port: Any) -> Any:
        if name != "ctl":
            raise socket.gaierror("unknown")
        return [(0, 0, 0, "", ("10.0.0.9", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", known)
    assert network_io.names(WANT, silent) == {"gpu01": "", "ctl": "10.0.0.9"}


def test_a_connection_is_open_or_refused(listening: int) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    port = closed.getsockname()[1]
    closed.close()
    want = {**WANT, "ports": [{"host": "127.0.0.1", "port": number, "open": False} for number in (listening, port)]}
    assert [one["end"] for one in network_io.ports(want, silent)] == ["open", "refused"]


@pytest.mark.parametrize(
    ("error", "end"),
    [
        (TimeoutError(), "no answer"),
        (socket.gaierror(), "unresolved"),
        (OSError(113, "No route to host"), "No route to host"),
    ],
)
def test_other_ends_have_their_words(monkeypatch: pytest.MonkeyPatch, error: Exception, end: str) -> None:
    def fails(*args: Any) -> Any:
        raise error

    monkeypatch.setattr(socket, "create_connection", fails)
    assert [one["end"] for one in network_io.ports(WANT, silent)] == [end]


class Wire:
    """ip and ping on a path that passes packets of up to so many bytes."""

    def __init__(self, passes: int, splits: bool = True) -> None:
        self.passes, self.splits = passes, splits

    def __call__(self, argv: Any, ok: Any = (0,)) -> Completed:
        if "route" in argv:
            return Completed(0, "10.0.0.9 dev eth0 src 10.0.0.1", "")
        size, split = int(argv[argv.index("-s") + 1]), argv[argv.index("-M") + 1] == "dont"
        if size + 28 <= self.passes or (split and self.splits):
            return Completed(0, "", "")
        raise DeviceError("ping failed")


@pytest.fixture
def eth0(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_io, "read", lambda path: "9000\n" if path.endswith("/eth0/mtu") else "")
    monkeypatch.setattr(network_io, "_address", lambda name: "10.0.0.9")
    monkeypatch.setattr(work_io, "tool", lambda name: name)


@pytest.mark.usefixtures("eth0")
@pytest.mark.parametrize(
    ("wire", "whole", "split"),
    [(Wire(9000), True, True), (Wire(1500), False, True), (Wire(1500, splits=False), False, False)],
)
def test_a_path_passes_packets_whole_split_or_not(wire: Wire, whole: bool, split: bool) -> None:
    assert network_io.mtu(WANT, wire) == [{"to": "ctl", "by": "eth0", "mtu": 9000, "whole": whole, "split": split}]


@pytest.mark.usefixtures("eth0")
def test_a_host_that_answers_no_ping_is_no_path() -> None:
    assert network_io.mtu(WANT, Wire(0, splits=False)) == []
