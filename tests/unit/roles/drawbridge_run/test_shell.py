# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sessions in pods: a shell, and signals for the programs."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import struct
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run import shell, signals
from roles.drawbridge_run.files.run.context import Context
from roles.drawbridge_run.files.run.options import parse
from roles.drawbridge_run.files.run.pod import START
from roles.drawbridge_run.files.run.pod_set import PodSet
from roles.drawbridge_run.files.run.pods import read
from roles.drawbridge_run.files.run.signals import SignalSender
from roles.drawbridge_run.files.run.terminal import Session, exit_code
from roles.drawbridge_run.files.run.websocket import BINARY, END, PING, STDIN, frame, message
from tests.unit.roles.drawbridge_run.job import ADA, ENV, Paper, StillClock, Tools, ended, granted, running


def unmasked(data: bytes, opcode: int = BINARY, final: bool = True) -> bytes:
    """A message as servers send it."""
    size = len(data)
    head = bytes([(0x80 if final else 0) | opcode])
    if size < 126:
        return head + bytes([size]) + data
    return head + (struct.pack("!BH", 126, size) if size < 65536 else struct.pack("!BQ", 127, size)) + data


def unmask(sent: bytes) -> bytes:
    """The content of a short message as clients send it."""
    mask, data = sent[2:6], sent[6:]
    return bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65535, 65536])
def test_a_sent_frame_is_masked_and_whole(size: int) -> None:
    data, mask = bytes(index % 251 for index in range(size)), b"abcd"
    sent = frame(data, mask=mask)
    assert sent[1] & 0x80
    start = len(sent) - size
    assert sent[start - 4 : start] == mask
    assert bytes(byte ^ mask[index % 4] for index, byte in enumerate(sent[start:])) == data
    assert message(io.BytesIO(unmasked(data))) == (BINARY, data)


def test_fragments_are_put_together_and_pings_may_come_between() -> None:
    stream = io.BytesIO(unmasked(b"a", final=False) + unmasked(b"!", PING) + unmasked(b"b", opcode=0) + b"")
    assert message(stream) == (PING, b"!")
    stream = io.BytesIO(unmasked(b"a", final=False) + unmasked(b"b", opcode=0))
    assert message(stream) == (BINARY, b"ab")
    assert message(stream) is None


def test_the_last_message_says_how_it_ended() -> None:
    causes = [{"reason": "ExitCode", "message": "3"}]
    assert exit_code('{"status": "Success"}') == 0
    assert exit_code(json.dumps({"status": "Failure", "details": {"causes": causes}})) == 3
    with pytest.raises(Refused, match="the pod can't be entered: container not found"):
        exit_code('{"status": "Failure", "message": "container not found"}')


def test_an_api_server_that_is_away_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise ConnectionRefusedError("nobody listens")

    monkeypatch.setattr(Session, "_connection", lambda _: SimpleNamespace(timeout=10, request=away))
    with pytest.raises(Refused, match="the pod can't be entered: ConnectionRefusedError: nobody listens"):
        Session(granted(tmp_path), StillClock()).run("/api/v1/namespaces/vision/pods/a", ("true",))


@pytest.fixture
def entered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []
    monkeypatch.setattr(shell.Session, "run", lambda _, path, command: found.append((path, command)) or 0)
    return found


def test_piped_input_goes_over_the_one_connection_and_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Typing has a thread of its own, and connections are each thread's own."""
    here, there = socket.socketpair()
    session = Session(granted(tmp_path), StillClock())
    session._socket = here
    read, write = os.pipe()
    os.write(write, b"ls\n")
    os.close(write)
    with os.fdopen(read) as piped, here, there:
        monkeypatch.setattr("sys.stdin", piped)
        typing = threading.Thread(target=session._type)
        typing.start()
        typing.join(120)
        there.settimeout(1)  # all is sent when the typing has ended
        sent = there.recv(100)
    said = [unmask(sent[start : start + 6 + size]) for start, size in ((0, 4), (10, 2))]
    assert said == [bytes([STDIN]) + b"ls\n", bytes([END, STDIN])]


def step_in(root: Path, line: str, *items: dict[str, object]) -> int:
    pod_set = PodSet(("gpu01", "gpu02"), "9Gi")
    for item in items:
        pod_set.note(item)
    context = Context(ENV, StillClock(), Tools({}), Paper(), ADA)
    return shell.step_in(pod_set, granted(root), parse(line.split()), context)


def test_a_shell_has_rank_and_umask_like_the_program(
    tmp_path: Path, entered: list[tuple[str, tuple[str, ...]]]
) -> None:
    assert step_in(tmp_path, "--shell --rank 1", running("a", "gpu01"), running("b", "gpu02")) == 0
    ((path, command),) = entered
    assert path == "/api/v1/namespaces/vision/pods/b"
    assert command[:4] == ("/bin/sh", "-c", START, "drawbridge-run")


def test_a_command_may_take_the_shells_place(tmp_path: Path, entered: list[tuple[str, tuple[str, ...]]]) -> None:
    step_in(tmp_path, "--shell -- nvidia-smi -L", running("a", "gpu01"))
    assert entered[0][1][4:] == ("nvidia-smi", "-L")


def test_only_what_runs_is_entered(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"no pod of rank 1 runs in this job \(running ranks: 0\)"):
        step_in(tmp_path, "--shell --rank 1", running("a", "gpu01"), ended("b", "gpu02"))


NODES = ("gpu01", "gpu02")


def sent(root: Path, monkeypatch: pytest.MonkeyPatch, answers: dict[str, object]) -> tuple[list[str], list[str]]:
    """Commands that pods get, and the output for their user; `answers` by the pod's name: an exit code, or an error."""
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


def test_the_programs_of_running_pods_get_the_signal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
