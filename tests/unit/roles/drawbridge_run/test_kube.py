# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run import kube as module
from roles.drawbridge_run.files.run.kube import Kube
from tests.unit.roles.drawbridge_run.doubles import StillClock
from tests.unit.roles.drawbridge_run.job import granted

ANSWERS = {
    "/log": (200, b"one\ntwo\n"),
    "/pods": (200, b'{"type": "ADDED", "object": {}}\n{"type": "ERROR", "object": {"code": 410}}\n{"type": "LATE"}\n'),
    "/gone": (404, b'{"message": "pods \\"a\\" not found"}'),
    "/starting": (403, b'{"message": "not yet ready to handle request"}'),
    "/busy": (503, b"overloaded"),
}


class Server(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert self.headers["Authorization"] == "Bearer a token"
        status, text = ANSWERS[self.path.partition("?")[0]]
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def kube(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kube]:
    """A server on loopback, without TLS."""
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        plain = module.http.client.HTTPConnection
        monkeypatch.setattr(module.Stream, "_connection", lambda it: _kept(it, plain("127.0.0.1", port)))
        yield Kube(granted(tmp_path), StillClock())
        server.shutdown()


def _kept(stream: module.Stream, connection: module.http.client.HTTPConnection) -> module.http.client.HTTPConnection:
    stream._local.connection = connection
    return connection


def test_lines_come_one_by_one(kube: Kube) -> None:
    assert list(kube.lines("/log", follow="true")) == ["one", "two"]


def test_a_version_that_is_too_old_ends_the_watch(kube: Kube) -> None:
    assert [change["type"] for change in kube.changes("/pods", "1")] == ["ADDED"]


@pytest.mark.parametrize(
    ("path", "error", "says"),
    [
        ("/gone", Refused, 'pods "a" not found'),
        ("/starting", Unreachable, "not yet ready"),
        ("/busy", Unreachable, "overloaded"),
    ],
)
def test_a_server_that_is_not_ready_has_not_refused(kube: Kube, path: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        list(kube.lines(path))
