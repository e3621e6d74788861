# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.explorer.records import EVERYWHERE, Change, Container, History, Run, Trouble
from tests.schedules.plan import CANCELLED, ENDS, PREEMPTED, SLURMCTLD_KILLED, Plan, Work
from tests.schedules.play import SEEN, Diary, astray, script, summary, told

QUIET, PODS = Work("ada", ("gpu01",), 3), Work("cleo", ("gpu01", "gpu02"), 4, pods=True, stubborn=True)


@pytest.mark.parametrize("way", [ENDS, CANCELLED])
@pytest.mark.parametrize("work", [QUIET, PODS], ids=["quiet", "pods"])
def test_scripts_are_programs(work: Work, way: str) -> None:
    text = script(work, way)
    if text.startswith("#!/bin/sh"):
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)
    else:
        compile(text, "script", "exec")


def test_what_is_ended_from_outside_runs_for_long_but_once() -> None:
    assert script(QUIET, ENDS).splitlines()[-1] == "sleep 3"
    assert script(QUIET, CANCELLED).splitlines()[-1] == "sleep 600"
    assert "exec sleep 3" in script(QUIET, CANCELLED)
    assert "4 if os.environ.get('SLURM_RESTART_COUNT') else 600" in script(PODS, CANCELLED)
    assert '"backoffLimit": 1000' in script(PODS, ENDS)


def test_the_moment_is_when_that_verb_is_at_work(tmp_path: Path) -> None:
    """Also of a process that was somebody else when it was first seen, as whoever starts the gate is.

    Labs beside the test may have the gate at work as well, but with no such verb.
    """
    gate = tmp_path / "drawbridge/gate"
    gate.parent.mkdir()
    gate.write_text("import sys\nsys.stdin.read()\n")
    becomes = f"sleep 0.1; exec {sys.executable} {gate} $0"
    watch = [sys.executable, "-IS", "-", "wanted", "0.01"]
    with (
        subprocess.Popen(["sh", "-c", becomes, "another"], stdin=subprocess.PIPE) as other,
        subprocess.Popen(watch, stdin=subprocess.PIPE, text=True) as watcher,
    ):
        assert watcher.stdin
        watcher.stdin.write(SEEN)
        watcher.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            watcher.wait(1)
        with subprocess.Popen(["sh", "-c", becomes, "wanted"], stdin=subprocess.PIPE) as wanted:
            assert watcher.wait(100) == 0
            assert wanted.poll() is None
            wanted.communicate()
        other.communicate()


PLAN = Plan(1, PREEMPTED, (QUIET, PODS))


def diary(*ends: list[str], reached: bool | None = None) -> Diary:
    numbers = [str(number) for number in range(1, len(ends) + 1)]
    found = Diary(jobs={1: numbers}, ended=dict(zip(numbers, ends, strict=True)))
    found.reached = {} if reached is None else {1: reached}
    return found


@pytest.mark.parametrize(
    ("ends", "reached", "wrong"),
    [
        ([["PREEMPTED"], ["COMPLETED"]], None, 0),
        ([["COMPLETED"], ["COMPLETED", "COMPLETED"]], None, 0),
        ([["CANCELLED"], ["COMPLETED"]], None, 1),
        ([["PREEMPTED"], ["COMPLETED", "FAILED"]], None, 1),
        ([["CANCELLED"], ["FAILED"]], True, 0),
        ([["CANCELLED"], ["FAILED"]], False, 2),
        ([["RUNNING"], ["COMPLETED"]], True, 1),
        ([["COMPLETED"], ["PENDING"]], True, 1),
    ],
)
def test_jobs_end_as_planned_unless_something_went_wrong(
    ends: list[list[str]], reached: bool | None, wrong: int
) -> None:
    assert len(astray([PLAN], diary(*ends, reached=reached))) == wrong


def test_a_job_that_slurm_has_no_end_of_went_astray() -> None:
    assert "UNKNOWN" in astray([PLAN], Diary(jobs={1: ["5"]}))[0]
    killed = [Trouble(SLURMCTLD_KILLED, EVERYWHERE, 110, 112)]
    assert astray([PLAN], Diary(jobs={1: ["5"]}, reached={1: True}, troubles=killed)) == []


def test_a_story_is_told_in_its_order() -> None:
    history = History(
        changes=[Change(112, "gpu01", "closed", "vision.1", "1", "opener")],
        containers=[Container("gpu01", "slurm-1-r0-x-0", "vision", 1, 0, 113, 115)],
        runs=[Run(1, 0, "vision", ("gpu01",), 111, 112.5, 116)],
        troubles=[Trouble("power", "", 114, 117)],
    )
    lines = told([PLAN], Diary(begin=100, jobs={1: ["1"]}), history)
    assert lines[0].startswith("seed 1: ")
    assert [line.split(maxsplit=1)[1] for line in lines[1:]] == [
        "gpu01: closed -> vision.1 by opener",
        "job 1 works on ('gpu01',)",
        "gpu01: slurm-1-r0-x-0 runs",
        "ctl: power",
        "gpu01: slurm-1-r0-x-0 has ended",
        "job 1 is over",
        "ctl: over",
    ]
    assert summary(history) == "1 changes of nodes, 1 runs of jobs, 1 pods, 0 changes of drains"
