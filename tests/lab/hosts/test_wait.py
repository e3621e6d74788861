# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import socket
import threading

import pytest

from lab.hosts import wait


@pytest.fixture
def server(monkeypatch):
    """A listener on loopback that `banner` takes for port 22; say what it greets with."""
    listener = socket.create_server(("127.0.0.1", 0))
    greeting = []
    real = socket.create_connection
    monkeypatch.setattr(socket, "create_connection", lambda _, timeout: real(listener.getsockname(), timeout))

    def serve():
        try:
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(greeting[0])
        except OSError:
            return

    thread = threading.Thread(target=serve)
    thread.start()
    yield greeting
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


def test_a_greeting_counts(server):
    server.append(b"SSH-2.0-OpenSSH_10.0\r\n")
    assert wait.banner("10.77.7.21", 60)


def test_a_connection_alone_does_not(server):
    server.append(b"")
    assert not wait.banner("10.77.7.21", 0.3)


def test_a_dead_host_is_not_waited_for():
    assert not wait.banner("10.77.7.21", 3600, alive=lambda: False)


def test_another_servers_greeting_does_not_count_for_a_dead_host(server):
    """As when the machine's own sshd answers on the address."""
    server.append(b"SSH-2.0-OpenSSH_10.0\r\n")
    lives = iter([True])
    assert not wait.banner("10.77.7.41", 5, alive=lambda: next(lives, False))
