# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import fcntl
import time
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.io import Daemon
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.units import Unit

from tests.unit.module_utils.answers import Answers, show
from tests.unit.module_utils.core.test_files import mine


def monotonic_us(ago_s: float) -> int:
    return int((time.monotonic() - ago_s) * 1e6)


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "x.conf"
    path.write_text("text\n")
    path.chmod(0o644)
    return path


def device(conf: Path, run: Answers, lock: str = "", passive: bool = False) -> tuple[Daemon, DaemonState]:
    known = frozenset({str(conf)}) if passive else frozenset()
    want = DaemonState("x.service", {str(conf): mine("text\n")}, passive=known)
    return Daemon(Unit("x.service", run), want, lock), want


@pytest.mark.parametrize(
    ("ago_s", "passive", "current"),
    [(60, False, False), (-1, False, True), (60, True, True)],
    ids=["older", "younger", "a file that is read each time"],
)
def test_a_daemon_is_current_if_it_is_younger_than_what_it_has_read(
    conf: Path, ago_s: float, passive: bool, current: bool
) -> None:
    daemon, want = device(conf, Answers({"systemctl show": show(begun_us=monotonic_us(ago_s))}), passive=passive)
    assert daemon.read() == replace(want, current=current)


@pytest.mark.parametrize(("ago_s", "verb"), [(60, "restart"), (-1, "start")])
def test_a_start_that_has_read_older_files_begins_anew(conf: Path, ago_s: float, verb: str) -> None:
    """The verb `start` would join the running start, which perhaps hangs because of a fault that this run repaired."""
    daemon, want = device(conf, Answers({"systemctl show": show(active="activating", begun_us=monotonic_us(ago_s))}))
    assert [step.payload[0] for step in plan(daemon.read(), want)] == [verb]


def test_a_held_lock_makes_a_restart_wait(conf: Path, tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    lock.touch()
    run = Answers({"systemctl show": show(begun_us=monotonic_us(60))})
    daemon, want = device(conf, run, str(lock))
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        outcome = converge(daemon, plan, want, in_use=daemon.busy)
    assert (outcome.changed, outcome.error) == (False, "")
    assert "a prolog or epilog is running" in outcome.pending[0]
    assert daemon.busy() == ""


def test_a_file_that_is_read_at_the_start_asks_for_a_restart_of_its_own(conf: Path) -> None:
    want = DaemonState("x.service", {str(conf): mine("text\n")}, at_start=frozenset({str(conf)}))
    run = Answers({"systemctl show": show(begun_us=monotonic_us(60)), "systemctl restart": ""})
    state = Daemon(Unit("x.service", run), want).read()
    assert (state.current, state.fresh) == (True, False)
