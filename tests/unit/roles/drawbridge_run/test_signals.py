# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run import signals
from roles.drawbridge_run.files.run.pods import read
from roles.drawbridge_run.files.run.signals import SignalSender
from tests.unit.roles.drawbridge_run.doubles import StillClock
from tests.unit.roles.drawbridge_run.job import Paper, ended, granted, running

NODES = ("gpu01", "gpu02")


def sent(root: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, object]) -> tuple[list[str], list[str]]:
    """What pods are told, and what their user is; `answers` by the pod's name: an exit code, or an error."""
    told: list[str] = []

    def tell(_session: object, path: str, command: tuple[str, ...]) -> int:
        told.append(f"{path}: {command[-1]}")
        answer = answers[path.rpartition("/")[2]]
        if isinstance(answer, Exception):
            raise answer
        return int(str(answer))

    monkeypatch.setattr(signals.Session, "run_detached", tell)
    paper = Paper()
    found = [read(pod, NODES) for pod in (running("a", "gpu01"), ended("b", "gpu02"), running("c", "gpu02"))]
    SignalSender(granted(root), StillClock(), paper).send(signal.SIGUSR1, found)
    for thread in threading.enumerate():
        if thread.name == signals.NAME:
            thread.join(120)
    return sorted(told), paper.said


def test_the_programs_of_pods_that_run_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told, said = sent(tmp_path, monkeypatch, {"a": 0, "c": 0})
    assert told == [f"/api/v1/namespaces/vision/pods/{name}: kill -s USR1 1" for name in "ac"]
    assert said == ["SIGUSR1 goes on to the programs of 2 pods"]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (1, "SIGUSR1 does not reach rank 1 on gpu02: kill ended with 1"),
        (Refused("forbidden"), "SIGUSR1 does not reach rank 1 on gpu02: forbidden"),
        (OSError("reset"), "SIGUSR1 does not reach rank 1 on gpu02: reset"),
    ],
)
def test_a_pod_that_is_not_reached_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: object, says: str
) -> None:
    assert sent(tmp_path, monkeypatch, {"a": 0, "c": answer})[1][1:] == [says]
