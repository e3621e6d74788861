# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A unit whose process changes, as real processes: the starter, a node_exporter, and one that refuses its flags."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.node_exporter_io import (
    NodeExporter,
)

from tests.waiting import until

WAITS = "input()"


class Systemd:
    """A unit, with the process that it has at the moment."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.verbs: list[str] = []

    def start(self, *argv: str) -> None:
        """Another process. It has its command line a moment after it has begun."""
        self.end()
        self.process = process = subprocess.Popen(argv, stdin=subprocess.PIPE)
        until(lambda: Path(f"/proc/{process.pid}/cmdline").read_bytes(), 60, "the process has its command line")

    def end(self) -> None:
        """No process."""
        if self.process:
            self.process.communicate(b"\n")
        self.process = None

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        if "show" not in argv:
            self.verbs.append(argv[1])
            return Completed(0, "", "")
        if "--property=MainPID" in argv:
            return Completed(0, f"MainPID={self.process.pid if self.process else 0}\n", "")
        shown = f"LoadState=loaded\nActiveState={'active' if self.process else 'failed'}\nUnitFileState=enabled\n"
        return Completed(0, f"{shown}InactiveExitTimestampMonotonic={int(time.monotonic() * 1e6)}\n", "")


@pytest.fixture
def systemd() -> Iterator[Systemd]:
    made = Systemd()
    yield made
    made.end()


class Unit:
    """The unit, without files."""

    def __init__(self, systemd: Systemd) -> None:
        self.want = DaemonState("n.service", {})
        self.unit = NodeExporter(self.want, systemd, sys.executable)

    def steps(self) -> list[str]:
        return [step.reason for step in plan(self.unit.read(), self.want)]


@pytest.fixture
def unit(systemd: Systemd) -> Unit:
    return Unit(systemd)


PROGRAM = (sys.executable, "-c", WAITS, "--collector.ethtool", "a  b")
RESTART = ["restart n.service, which runs with older files"]


def test_before_a_change_one_look_is_enough(unit: Unit, systemd: Systemd) -> None:
    systemd.start(*PROGRAM)
    assert (unit.steps(), unit.unit.argv) == ([], [*PROGRAM])


def test_after_a_change_the_same_process_must_stay(unit: Unit, systemd: Systemd) -> None:
    unit.unit.apply([])
    systemd.start("/bin/sh", "-c", "read line; exit 0", "starter", *PROGRAM)
    assert unit.steps() == unit.steps() == RESTART and unit.unit.argv == []
    systemd.start(*PROGRAM)
    assert unit.steps() == RESTART
    assert (unit.steps(), unit.unit.argv) == ([], [*PROGRAM])


def test_one_that_refuses_its_flags_is_never_done(unit: Unit, systemd: Systemd) -> None:
    unit.unit.apply([])
    for _ in range(3):
        systemd.start(*PROGRAM)
        assert unit.steps() == RESTART
    systemd.end()
    assert unit.steps() == ["start n.service"] and unit.unit.argv == []
