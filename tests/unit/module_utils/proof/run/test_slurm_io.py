# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's commands as texts, and srun as a program that really runs."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import slurm_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.cluster import (
    Interrupted,
    NodeInSlurm,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import Answer, Request
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.slurm_io import SlurmCluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites

from tests.unit.module_utils.proof.transcripts import printed
from tests.unit.processes import gone

NODES = """\
NodeName=n1 Arch=x86_64 CPUAlloc=0 State=IDLE ThreadsPerCore=2 Partitions=train
NodeName=n2 State=IDLE+DRAIN ThreadsPerCore=2 Reason=drawbridge: proof: it = slow [root@2026-11-28T10:00:00]
NodeName=n3 State=DOWN*+DRAIN Reason=fan [1] broken : Not responding [slurm@2026-11-28T10:00:00]
NodeName=n4 State=MIXED ThreadsPerCore=2
NodeName=n44 State=IDLE ThreadsPerCore=2
"""
RESERVED = "ReservationName=drawbridge-proof StartTime=2026-11-28T10:00:00 EndTime=2026-11-28T10:15:00 Nodes=n[1-2]\n"
OTHERS = "ReservationName=drawbridge-proof2 StartTime=2026-11-28T10:00:00 Nodes=n[1-2]\n"
REQUEST = Request({"big": ProofNode("", "big")}, {"big": "n[1-2]"}, ("clocks",))
FOUND = [Measure("rate", 1.0, "GB/s", "n1")]


class Slurm:
    """Answers of Slurm's commands, and a cluster that uses them; `calls` are those that change something."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.calls: list[str] = []
        self.said: list[str] = []
        self.reserved, self.jobs = OTHERS, [""]
        (root / "lib/drawbridge").mkdir(parents=True)
        (root / "scratch").mkdir()

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        line = " ".join(argv)
        shown = {"scontrol show node -o": NODES, "scontrol show reservation -o": self.reserved}
        if line in shown:
            return Completed(0, shown[line], "")
        if argv[0] == "squeue":
            whose = "--nodelist=n[1-4]" in argv
            text = "7 n4\n" if whose else self.jobs.pop(0) if len(self.jobs) > 1 else self.jobs[0]
            return Completed(0, text, "")
        self.calls.append(line)
        if "endtime=" in line:
            (self.root / "prolonged").touch()
        elif "reservation" in line:
            self.reserved = OTHERS + RESERVED * ("create" in line)
        return Completed(0, "", "")

    def cluster(self, **more: Any) -> SlurmCluster:
        places = (self.root / "lib", self.root / "scratch")
        return SlurmCluster(self, self.said.append, "drawbridge-proof", *places, **more)

    def srun(self, body: str) -> None:
        """A program that notes its words first."""
        file = self.root / "srun"
        file.write_text(f'#!/bin/sh\ncd {self.root}\necho "$*" >> words\n{body}\n')
        file.chmod(0o755)

    def words(self) -> list[list[str]]:
        return [line.split() for line in (self.root / "words").read_text().splitlines()]


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return Slurm(tmp_path)


def test_states_have_reasons_as_they_were_given_and_jobs(slurm: Slurm) -> None:
    assert slurm.cluster().states(["n1", "n2", "n3", "n4"]) == {
        "n1": NodeInSlurm("IDLE"),
        "n2": NodeInSlurm("IDLE", frozenset({"DRAIN"}), "drawbridge: proof: it = slow"),
        "n3": NodeInSlurm("DOWN", frozenset({"DRAIN", "NOT_RESPONDING"}), "fan [1] broken"),
        "n4": NodeInSlurm("MIXED", job="7"),
    }
    assert slurm.cluster().states(["n9"]) == {}


def test_cleaning_ends_jobs_and_then_the_reservation(slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    cancel = "scancel --quiet --name=drawbridge-proof --partition=drawbridge-proof"
    slurm.cluster().clean()
    assert slurm.calls == [cancel], "another reservation stays"
    slurm.reserved, slurm.jobs = OTHERS + RESERVED, ["12\n", "12\n", ""]
    monkeypatch.setattr(slurm_io.time, "sleep", lambda _seconds: None)
    slurm.cluster().clean()
    assert slurm.calls[1:] == [cancel, "scontrol delete reservationname=drawbridge-proof"]
    assert slurm.jobs == [""], "it waited for the jobs"


def test_jobs_that_do_not_end_are_an_error_and_keep_their_reservation(slurm: Slurm) -> None:
    slurm.reserved, slurm.jobs = RESERVED, ["12\n"]
    with pytest.raises(DeviceError, match="jobs drawbridge-proof do not end"):
        slurm.cluster()._wait_for_jobs(limit_s=0)


def test_a_reservation_is_made_prolonged_and_made_again_when_it_is_gone(slurm: Slurm) -> None:
    cluster = slurm.cluster()
    for _time in range(2):
        cluster.reserve(["n1", "n2"])
    create = "scontrol create reservation reservationname=drawbridge-proof user=root starttime=now duration=15"
    prolong = "scontrol update reservation reservationname=drawbridge-proof endtime=now+15minutes"
    assert slurm.calls == [f"{create} nodes=n[1-2]", prolong]
    slurm.reserved = OTHERS
    cluster.reserve(["n1", "n2"])
    assert slurm.calls[2:] == [f"{create} nodes=n[1-2]"]
    cluster.release()
    cluster.release()
    assert slurm.calls[3:] == ["scontrol delete reservationname=drawbridge-proof"]


def test_drains_begin_and_end_by_name(slurm: Slurm) -> None:
    cluster = slurm.cluster()
    cluster.drain("n1", "drawbridge: proof: slow")
    cluster.resume(["n1", "n2"])
    cluster.resume([])
    assert slurm.calls == [
        "scontrol update nodename=n1 state=drain reason=drawbridge: proof: slow",
        "scontrol update nodename=n[1-2] state=resume",
    ]


def test_a_job_brings_the_worker_to_its_nodes_and_their_answers_back(slurm: Slurm) -> None:
    lines = [line for name in ("n1", "n2", "n3") for line in Answer(name, {"clocks": FOUND}).lines()]
    (slurm.root / "answers").write_text("\n".join(["srun: hello", *lines]))
    slurm.srun("cat answers; echo $LC_ALL >&2")
    found = slurm.cluster().ask(REQUEST, ["n1", "n2"], 61)
    assert found == {name: Answer(name, {"clocks": FOUND}) for name in ("n1", "n2")}
    (words,) = slurm.words()
    assert {
        *("--job-name=drawbridge-proof", "--partition=drawbridge-proof", "--reservation=drawbridge-proof", "--time=3"),
        *("--nodelist=n[1-2]", "--nodes=2", "--exclusive", "--no-kill", "--export=NONE", "--ntasks-per-node=1"),
        "--bcast=/run/drawbridge-proof.pyz",
    } < {*words}
    with zipfile.ZipFile(words[-1]) as archive:
        assert Request.from_json(archive.read("request.json").decode()) == REQUEST
    assert slurm.said == []


def test_nodes_with_other_gpus_are_in_jobs_of_their_own_which_ask_for_all_of_them(slurm: Slurm) -> None:
    """A job that has a node for itself has all GPUs. Its steps have those that srun asked for, or none."""
    kinds = {
        "big": ProofNode("", "big", gpus=8),
        "slices": ProofNode("", "slices", gpus=4, instances=17),
        "cpu": ProofNode("", "cpu"),
    }
    request = Request(kinds, {"big": "n[1-2]", "slices": "n3", "cpu": "n4"}, ("clocks",))
    lines = [line for name in ("n1", "n2", "n3", "n4") for line in Answer(name, {"clocks": FOUND}).lines()]
    (slurm.root / "answers").write_text("\n".join(lines))
    slurm.srun("cat answers; until [ $(wc -l < words) -eq 3 ]; do sleep 0.05; done")
    assert {*slurm.cluster().ask(request, ["n4", "n1", "n3", "n2"], 61)} == {"n1", "n2", "n3", "n4"}
    asked = {
        next(it for it in words if it.startswith("--nodelist=")): [it for it in words if it.startswith("--gres=")]
        for words in slurm.words()
    }
    assert asked == {
        "--nodelist=n[1-2]": ["--gres=gpu:8"],
        "--nodelist=n3": ["--gres=gpu:17"],
        "--nodelist=n4": [],
    }


def test_what_srun_complains_of_is_said_if_an_answer_is_missing(slurm: Slurm) -> None:
    slurm.srun("echo 'srun: first' >&2; echo 'srun: error: n2: task 1: Killed' >&2; exit 1")
    assert slurm.cluster().ask(REQUEST, ["n1", "n2"], 60) == {}
    assert slurm.said == ["srun: srun: error: n2: task 1: Killed"]


def test_a_patrol_yields_to_all_jobs_and_reserves_nothing(slurm: Slurm) -> None:
    slurm.srun("true")
    cluster = slurm.cluster(patrol=True)
    cluster.reserve(["n1"])
    cluster.ask(REQUEST, ["n1"], 60)
    slurm.reserved = RESERVED
    cluster.release()
    assert [call.split()[0] for call in slurm.calls] == ["sacctmgr"]
    (words,) = slurm.words()
    assert {"--qos=drawbridge-proof", "--immediate=30"} < {*words}
    assert not [it for it in words if it.startswith("--reservation")]


def test_a_long_job_prolongs_the_reservation(slurm: Slurm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_io, "PROLONG_S", 0.0)
    slurm.srun("until [ -e prolonged ]; do sleep 0.05; done")
    slurm.cluster().ask(REQUEST, ["n1"], 600)
    assert "endtime=now+15minutes" in slurm.calls[0]


def test_a_job_that_outlives_its_limit_is_ended(slurm: Slurm) -> None:
    slurm.srun("echo $$ > pid; exec sleep 600")
    cluster = slurm.cluster()
    child = cluster._child(["srun"])
    while not ((slurm.root / "pid").exists() and (slurm.root / "pid").read_text()):
        slurm_io.time.sleep(0.01)
    assert cluster._wait([child], -60) == [("", "", -15)]
    gone(child.pid)


def test_collectives_of_a_round_run_at_the_same_time(slurm: Slurm) -> None:
    tests = [sites.Test(sites.COLLECTIVE, ("n1", "n2"), ()), sites.Test(sites.COLLECTIVE, ("n3",), ())]
    (slurm.root / "printed").write_text(printed("all_reduce"))
    # each waits until the other one has begun, too
    count = "while [ $(wc -l < words) -lt 2 ]; do sleep 0.05; done"
    slurm.srun(f'{count}; case "$*" in *n3*) exit 1;; *) cat printed;; esac')
    node = ProofNode("", "big", gpus=8, tools={"nccl_tests": "/opt", "mpi": "pmi2"})
    found = slurm.cluster().collective(tests, node, 600)
    assert [type(found[number][0]) for number in (0, 1)] == [Measure, Missing]
    assert [it[0].where for it in found.values()] == ["n1,n2", "n3"]
    assert all(
        {"--ntasks-per-node=8", "--gres=gpu:8", "--mpi=pmi2", "/opt/all_reduce_perf"} < {*words}
        for words in slurm.words()
    )


@pytest.mark.parametrize(
    ("end", "interrupted"),
    [("PREEMPTION", True), ("uid 0", True), ("TIME LIMIT", False), ("NODE FAILURE", False)],
)
def test_a_job_that_was_preempted_or_cancelled_says_nothing_about_nodes(
    slurm: Slurm, end: str, interrupted: bool
) -> None:
    slurm.srun(f"echo 'srun: error: *** STEP 7.0 CANCELLED AT 2026-11-29T00:00:00 DUE TO {end} ***' >&2; exit 1")
    node = ProofNode("", "big", gpus=8, tools={"nccl_tests": "/opt"})
    tests = [sites.Test(sites.COLLECTIVE, ("n1", "n2"), ())]
    for call in (
        lambda: slurm.cluster().ask(REQUEST, ["n1", "n2"], 60),
        lambda: slurm.cluster().collective(tests, node, 60),
    ):
        if interrupted:
            with pytest.raises(Interrupted):
                call()
        else:
            call()
