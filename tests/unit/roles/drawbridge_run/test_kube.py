# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers of the API server as they come over the wire, and the watch that is made of them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run import kube as module
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.watcher import CHANGE, GONE, LIST, SILENT, Update, Watcher
from tests.unit.roles.drawbridge_run.job import StillClock, granted

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


class Written(Kube):
    """Gives the written answers, one a request; then the job has no rights any more."""

    def __init__(self, *answers: Any) -> None:
        self._answers, self.versions = list(answers), []

    def items(self, path: str, **query: str) -> dict[str, Any]:
        assert query == {"labelSelector": "run=x"}
        found = self._next()
        return {"items": found, "metadata": {"resourceVersion": "10"}}

    def changes(self, path: str, version: str, **query: str) -> Iterator[dict[str, Any]]:
        self.versions.append(version)
        yield from self._next()

    def _next(self) -> Any:
        answer = self._answers.pop(0) if self._answers else Refused("Unauthorized")
        if isinstance(answer, Exception):
            raise answer
        return answer


def change(version: str) -> dict[str, Any]:
    return {"type": "MODIFIED", "object": {"metadata": {"name": "a", "resourceVersion": version}}}


def seen(server: Written) -> list[Update]:
    queue: SimpleQueue[Update] = SimpleQueue()
    Watcher("/pods", "run=x", server, StillClock(), queue)._run()
    return [queue.get() for _ in range(queue.qsize())]


def test_changes_follow_the_list_without_a_gap() -> None:
    server = Written([{"metadata": {"name": "a"}}], [change("11"), change("12")], [change("13")])
    assert [updates.kind for updates in seen(server)] == [LIST, CHANGE, CHANGE, CHANGE, GONE]
    assert server.versions == ["10", "12", "13"]


def test_after_silence_everything_is_listed_again() -> None:
    server = Written([], Unreachable("broken off"), [])
    assert [updates.kind for updates in seen(server)] == [LIST, SILENT, LIST, GONE]


def test_a_quiet_watch_ends_in_a_fresh_list() -> None:
    server = Written([], [], [], [change("20")])
    assert [updates.kind for updates in seen(server)] == [LIST, LIST, CHANGE, GONE]


def test_a_refusal_that_heals_is_no_end() -> None:
    """Rights are read anew by an API server that starts."""
    server = Written([], Refused("RBAC: not found"), Refused("RBAC: not found"), [{"metadata": {"name": "a"}}])
    assert [updates.kind for updates in seen(server)] == [LIST, LIST, GONE]
