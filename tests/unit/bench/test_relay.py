# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The relay against a server that answers twice what it is told."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.counted import RELAY


def serve(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    with connection:
        while data := connection.recv(65536):
            connection.sendall(data + data)


@pytest.fixture
def port() -> Iterator[int]:
    """Where a server listens for one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=[listener], daemon=True)
        thread.start()
        yield listener.getsockname()[1]
    thread.join(5)


def start(folder: Path, port: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-I", "-S", str(RELAY), str(folder), "127.0.0.1", str(port)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def counts(folder: Path) -> list[tuple[str, list[int]]]:
    """Address and port, and the two numbers, of all sessions."""
    files = sorted(folder.glob("[!.]*"))
    return [(file.name.rsplit("_", 1)[0], [int(word) for word in file.read_text().split()]) for file in files]


def test_bytes_pass_unchanged_and_are_counted_before_they_arrive(tmp_path: Path, port: int) -> None:
    with start(tmp_path, port) as relay:
        assert relay.stdin and relay.stdout
        for number in (1, 2, 3):
            relay.stdin.write(b"\0\xff\n")
            relay.stdin.flush()
            assert relay.stdout.read(6) == b"\0\xff\n" * 2
            assert counts(tmp_path) == [(f"127.0.0.1_{port}", [3 * number, 6 * number])]
        relay.stdin.close()
        assert relay.wait(120) == 0


def test_more_than_a_pipe_holds_arrives_whole(tmp_path: Path, port: int) -> None:
    data = bytes(range(256)) * 4096
    with start(tmp_path, port) as relay:
        echoed, _ = relay.communicate(data, timeout=120)
    assert len(echoed) == 2 * len(data) and set(echoed) == set(data)
    assert counts(tmp_path) == [(f"127.0.0.1_{port}", [len(data), 2 * len(data)])]


def test_a_host_that_is_away_is_no_session(tmp_path: Path) -> None:
    with start(tmp_path, 1) as relay:
        _, error = relay.communicate(timeout=120)
    assert relay.returncode == 1
    assert error.decode().startswith("127.0.0.1 port 1 can't be reached: ")
    assert counts(tmp_path) == []
