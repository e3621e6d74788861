# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Jobs that Slurm starts although PrologSlurmctld never opened their nodes, or not all of them."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from roles.slurm_gate.files.gate.api import Unreachable
from roles.slurm_gate.files.gate.slurm import JobInfo, NoAnswer
from roles.slurm_gate.files.gate.verbs import run
from tests.unit.roles.slurm_gate.cluster import BINDINGS, JOB, RUNNING, Made, hold, locked_elsewhere, own_token

RUN = f"{BINDINGS}/{JOB.account}-run"
REQUEUED = "scontrol requeue 4711"
ENDED = RUNNING._replace(state="PENDING", restarts=1, nodes=())


def obeys(at: Made, after: JobInfo = ENDED) -> list[str]:
    """Slurm obeys; its commands."""
    commands = at.slurm.told

    class Told(list[str]):
        def append(self, words: str) -> None:
            if words.startswith(("scontrol requeue", "scancel")):
                at.slurm.jobs[4711] = after
            commands.append(words)

    at.slurm.told = Told()
    return commands


def without(path: str) -> Callable[[Made], object]:
    return lambda at: at.cluster.objects.pop(path)


def held_by(value: str) -> Callable[[Made], object]:
    return lambda at: hold(at.cluster, value)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (held_by("closed"), "node gpu01 was not opened for it (closed)"),
        (held_by("dirty_vision.4711"), "node gpu01 was not opened for it (dirty_vision.4711)"),
        (held_by("vision.4712"), "node gpu01 was not opened for it (vision.4712)"),
        (held_by("nlp.4711"), "node gpu01 was not opened for it (nlp.4711)"),
        (without(RUN), "its rights are incomplete"),
        (without("/api/v1/nodes/gpu01"), "node gpu01 can't tell whether it was opened for it"),
    ],
)
def test_a_prolog_requeues_a_job_that_was_not_opened(
    change: Callable[[Made], object], cause: str, opened: Made
) -> None:
    opened.slurm.jobs[4711] = RUNNING
    commands = obeys(opened)
    change(opened)
    assert run("deliver_token", opened) == 0, "a Prolog that fails would drain the node"
    assert commands == [REQUEUED]
    assert cause in opened.slurm.comments[4711]
    assert not list(opened.jobs.iterdir()), "no token, no environment"


def test_a_job_that_can_not_be_requeued_is_cancelled(at: Made) -> None:
    at.slurm.jobs[4711] = RUNNING._replace(batch=False)
    commands = obeys(at, JobInfo("COMPLETING"))
    assert run("deliver_token", at) == 0
    assert commands == ["scancel 4711"]


def test_a_silent_server_is_no_open_node(opened: Made) -> None:
    opened.slurm.jobs[4711] = RUNNING
    commands = obeys(opened)

    def silent(method: str, path: str) -> None:
        raise Unreachable("no answer")

    opened.cluster.before = silent
    assert run("deliver_token", opened) == 0
    assert commands == [REQUEUED]


def test_a_job_of_an_account_without_a_namespace_does_not_start(at: Made) -> None:
    at.env["SLURM_JOB_ACCOUNT"] = "geology"
    at.slurm.jobs[4711] = RUNNING
    commands = obeys(at)
    assert run("deliver_token", at) == 0
    assert commands == [REQUEUED]


def of_a_project(at: Made) -> Made:
    """Nodes do not know the namespaces of projects."""
    here = at._replace(config=at.config._replace(namespaces={}))
    here.cluster = at.cluster
    return here


def test_a_node_reads_the_namespace_of_a_project_from_its_own_state(opened: Made) -> None:
    opened.slurm.jobs[4711] = RUNNING
    assert run("deliver_token", of_a_project(opened)) == 0
    assert "DRAWBRIDGE_NAMESPACE=vision\n" in (opened.jobs / "4711/env").read_text()
    assert opened.slurm.told == []


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        ("closed", "node gpu01 was not opened for it (closed)"),
        ("dirty_vision.4711", "node gpu01 was not opened for it (dirty_vision.4711)"),
        ("vision.4712", "node gpu01 was not opened for it (vision.4712)"),
        ("nlp.4711", "its rights are incomplete"),
    ],
)
def test_a_project_whose_job_did_not_open_the_node_does_not_start(value: str, cause: str, opened: Made) -> None:
    opened.slurm.jobs[4711] = RUNNING
    here = of_a_project(opened)
    commands = obeys(here)
    hold(opened.cluster, value)
    assert run("deliver_token", here) == 0
    assert commands == [REQUEUED] and cause in opened.slurm.comments[4711]
    assert not list(opened.jobs.iterdir())


def test_jobs_of_other_partitions_need_no_namespace(opened: Made) -> None:
    opened.env["SLURM_JOB_PARTITION"] = "hpc"
    opened.cluster.before = lambda method, path: pytest.fail(f"{method} {path}")
    assert run("deliver_token", of_a_project(opened)) == 0


@pytest.mark.parametrize("project", [False, True], ids=["account", "project"])
@pytest.mark.parametrize("silent", [False, True], ids=["configuring", "slurmctld silent"])
def test_a_prolog_waits_for_the_opener(silent: bool, project: bool, at: Made) -> None:
    from roles.slurm_gate.files.gate.opener import open_job

    begun, here = at.clock.now(), of_a_project(at) if project else at
    at.slurm.jobs[4711], at.slurm.silent = RUNNING._replace(state="CONFIGURING"), silent
    sleep = at.clock.sleep

    def opener(seconds: float) -> None:
        sleep(seconds)
        if at.clock.now() - begun == 50:
            open_job(JOB, at)
            at.slurm.jobs[4711], at.slurm.silent = RUNNING, False

    at.clock.sleep = opener
    assert run("deliver_token", here) == 0
    assert at.clock.now() - begun == 50
    assert at.slurm.told == []
    assert (at.jobs / "4711/env").exists()


def test_the_jobs_groups_come_with_its_rights(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at.host, "groups", lambda uid, gid: [3011], raising=False)
    at.slurm.jobs[4711] = RUNNING
    assert run("open", at) == run("deliver_token", at) == 0
    assert "DRAWBRIDGE_GROUPS=3011\n" in (at.jobs / "4711/env").read_text()


@pytest.mark.parametrize(
    "job", [ENDED, RUNNING._replace(uid=2002), RUNNING._replace(nodes=("gpu03",)), RUNNING._replace(partition="hpc")]
)
def test_another_job_that_has_the_number_now_is_left_alone(job: JobInfo, at: Made) -> None:
    """Or another node has requeued the job already."""
    at.slurm.jobs[4711] = job
    assert run("deliver_token", at) == 0
    assert at.slurm.told == []


def test_a_job_that_slurm_does_not_end_does_not_start(at: Made) -> None:
    at.slurm.jobs[4711] = RUNNING
    assert run("deliver_token", at) == 1


def controller(at: Made) -> Made:
    """The controller of a site whose gate has been there for some time."""
    at.token("reconciler").write_text(own_token("drawbridge-gate", "reconciler"))
    os.utime(at.token("reconciler"), (at.clock.wall(), at.clock.wall()))
    at.notes.write("gated", {"partitions": ["ai-train"], "jobs": []})
    at.slurm.jobs[4711] = RUNNING
    return at


def test_the_timer_requeues_a_running_job_without_an_opener(at: Made) -> None:
    assert run("reconcile", controller(at)) == 0
    assert at.slurm.told == [REQUEUED]
    assert "its nodes were never opened" in at.slurm.comments[4711]


def test_a_job_that_slurm_does_not_end_keeps_no_other_from_its_end(at: Made) -> None:
    controller(at).slurm.jobs[4712] = RUNNING
    said = at.slurm._run

    def refuses(tool: str, *words: str) -> str:
        if words == ("requeue", "4711"):
            raise NoAnswer("Requested operation is presently disabled")
        return said(tool, *words)

    at.slurm._run = refuses
    assert run("reconcile", at) == 1
    assert at.slurm.told == ["scontrol requeue 4712"]


@pytest.mark.parametrize(
    "job",
    [
        RUNNING._replace(state="CONFIGURING"),
        RUNNING._replace(state="SUSPENDED"),
        RUNNING._replace(state="COMPLETING"),
        RUNNING._replace(partition="hpc"),
    ],
    ids=lambda job: f"{job.state} in {job.partition}",
)
def test_but_no_other_job(job: JobInfo, at: Made) -> None:
    controller(at).slurm.jobs[4711] = job
    assert run("reconcile", at) == 0
    assert at.slurm.told == []


def test_an_opened_job_may_lose_its_rights_and_run(opened: Made) -> None:
    """A job that gave up a node has lost its pods; its owner decides what becomes of the rest."""
    controller(opened)
    for path in [path for path in opened.cluster.objects if JOB.account in path]:
        del opened.cluster.objects[path]
    hold(opened.cluster, "closed")
    assert run("reconcile", opened) == 0
    assert opened.slurm.told == []


def test_a_controller_that_lost_its_notes_looks_for_the_jobs_rights(opened: Made) -> None:
    controller(opened).notes.forget("run-4711")
    assert run("reconcile", opened) == 0
    assert opened.slurm.told == []
    del opened.cluster.objects[RUN]
    assert run("reconcile", opened) == 0
    assert opened.slurm.told == [REQUEUED]


def test_an_opener_at_work_is_not_disturbed(at: Made) -> None:
    with locked_elsewhere(controller(at), 4711):
        assert run("reconcile", at) == 0
    assert at.slurm.told == []


def test_jobs_that_ran_before_their_partition_was_gated_go_on(at: Made) -> None:
    controller(at).notes.forget("gated")
    later = RUNNING._replace(nodes=("gpu03",))
    assert run("reconcile", at) == 0
    at.slurm.jobs[4712] = later
    assert run("reconcile", at) == 0
    assert at.slurm.told == ["scontrol requeue 4712"]
    at.slurm.jobs = {}
    assert run("reconcile", at) == 0
    assert at.notes.read("gated") == {"partitions": ["ai-train"], "jobs": []}
