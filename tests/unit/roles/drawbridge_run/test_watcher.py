# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

from roles.drawbridge_run.files.gate.api import Unreachable
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.watcher import CHANGE, GONE, LIST, SILENT, Update, Watcher
from tests.unit.roles.drawbridge_run.doubles import StillClock


class Server(Kube):
    """Answers with what is written down, one answer a request; then the job has no rights any more."""

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


def seen(server: Server) -> list[Update]:
    queue: SimpleQueue[Update] = SimpleQueue()
    Watcher("/pods", "run=x", server, StillClock(), queue)._run()
    return [queue.get() for _ in range(queue.qsize())]


def test_changes_follow_the_list_without_a_gap() -> None:
    server = Server([{"metadata": {"name": "a"}}], [change("11"), change("12")], [change("13")])
    assert [updates.kind for updates in seen(server)] == [LIST, CHANGE, CHANGE, CHANGE, GONE]
    assert server.versions == ["10", "12", "13"]


def test_after_silence_everything_is_listed_again() -> None:
    server = Server([], Unreachable("broken off"), [])
    assert [updates.kind for updates in seen(server)] == [LIST, SILENT, LIST, GONE]


def test_a_quiet_watch_ends_in_a_fresh_list() -> None:
    server = Server([], [], [], [change("20")])
    assert [updates.kind for updates in seen(server)] == [LIST, LIST, CHANGE, GONE]


def test_a_refusal_that_heals_is_no_end() -> None:
    """Rights are read anew by an API server that starts."""
    server = Server([], Refused("RBAC: not found"), Refused("RBAC: not found"), [{"metadata": {"name": "a"}}])
    assert [updates.kind for updates in seen(server)] == [LIST, LIST, GONE]
