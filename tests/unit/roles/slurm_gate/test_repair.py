# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.config import Refused
from roles.slurm_gate.files.gate.decide import state
from roles.slurm_gate.files.gate.nodes import taint
from roles.slurm_gate.files.gate.repair import boot_node, repair_cluster, repair_node
from roles.slurm_gate.files.gate.slurm import JobInfo, NoAnswer, NodeInfo
from tests.unit.roles.slurm_gate.cluster import (
    ACCOUNTS,
    JOB,
    PODS,
    RUNNING,
    Cluster,
    Made,
    hold,
    locked_elsewhere,
    pod,
    world,
)

OURS = NodeInfo(frozenset({"IDLE", "DRAIN"}), "drawbridge gate: not proven empty")


def repair(at: Made) -> str:
    value = taint("gpu01", at.cluster)
    repair_node("gpu01", value, at, at.cluster)
    return state(value)


@pytest.mark.parametrize("state", ["COMPLETING", "RUNNING", "SIGNALING"])
def test_while_slurm_has_the_job_here_nothing_changes(state: str, at: Made) -> None:
    hold(at.cluster, "dirty_vision.4711")
    at.slurm.jobs[4711] = RUNNING._replace(state=state)
    repair(at)
    assert at.cluster.value("gpu01") == "dirty_vision.4711"
    assert [method for method, _ in at.cluster.log] == ["GET"]


def test_without_an_answer_of_slurm_nothing_changes(opened: Made) -> None:
    opened.slurm.silent = True
    for look in (lambda: repair(opened), lambda: repair_cluster(opened, opened.cluster)):
        with pytest.raises(NoAnswer):
            look()
    assert set(opened.cluster.values()) == {"vision.4711"}


def test_a_closed_node_costs_one_read(at: Made) -> None:
    assert repair(at) == "closed"
    assert at.cluster.log == [("GET", "/api/v1/nodes/gpu01")]
    assert not at.slurm.told


@pytest.mark.parametrize(
    ("info", "lifted"),
    [
        (OURS, True),
        (OURS._replace(reason="drawbridge: epilog part 50-gate ended with code 137 in job 7; look"), True),
        (OURS._replace(reason="drawbridge: epilog part 60-health ended with code 1 in job 7; look"), False),
        (OURS._replace(reason="Epilog error"), False),
        (OURS._replace(reason="Prolog error"), True),
        (OURS._replace(reason="Duplicate jobid"), True),
        (OURS._replace(reason="Duplicate jobids again, call Ben"), False),
        (NodeInfo(frozenset({"DOWN"}), "Not responding"), True),
        (NodeInfo(frozenset({"DOWN"}), "Node unexpectedly rebooted"), True),
        (NodeInfo(frozenset({"IDLE", "DRAIN"}), "bad disk, call Ben"), False),
        (NodeInfo(frozenset({"DOWN", "DRAIN"}), "bad disk, call Ben"), False),
        (NodeInfo(frozenset({"DOWN"}), "bad disk, call Ben"), False),
        (NodeInfo(frozenset({"IDLE"}), "drawbridge gate: an old reason stays as text"), False),
    ],
)
def test_a_proven_node_comes_back_and_a_persons_drain_stays(info: NodeInfo, lifted: bool, at: Made) -> None:
    at.slurm.nodes["gpu01"] = info
    repair(at)
    assert bool(at.slurm.told) is lifted


def test_a_prolog_that_fails_silently_is_forgiven_once_an_hour(at: Made) -> None:
    """Seen after a kill of slurmctld: slurmd waited for the order to run it. A broken node must not eat jobs."""
    for waits, lifted in ((0.0, True), (600.0, False), (3600.0, True)):
        at.clock.sleep(waits)
        at.slurm.told.clear()
        at.slurm.nodes["gpu01"] = OURS._replace(reason="Prolog error")
        repair(at)
        assert bool(at.slurm.told) is lifted


@pytest.mark.parametrize("reason", ["Prolog error", "Epilog error"])
def test_a_drain_in_slurms_words_is_ours_if_our_script_failed(reason: str, at: Made) -> None:
    """Slurm did not answer when the gate and the dispatcher wanted to say more."""
    at.notes.write("script-7", {})
    at.slurm.nodes["gpu01"] = OURS._replace(reason=reason)
    repair(at)
    assert at.slurm.told == ["scontrol update nodename=gpu01 state=resume"]
    at.slurm.nodes["gpu01"] = NodeInfo(frozenset({"IDLE"}), reason)
    repair(at)
    assert not at.notes.names("script-"), "it explains nothing that comes later"


def test_a_closed_node_with_something_on_its_gpus_stays_out(at: Made) -> None:
    at.slurm.nodes["gpu01"], at.host.on_gpus = OURS, {7: "ghost"}
    with pytest.raises(Refused, match=r"process 7 \(ghost\)"):
        repair(at)
    assert not at.slurm.told


def test_a_node_that_lacks_its_passport_stays_out(at: Made) -> None:
    at.slurm.nodes["gpu01"], at.host.lacks = (
        NodeInfo(frozenset({"DOWN"}), "Not responding"),
        "it needs a valid passport",
    )
    with pytest.raises(Refused, match="gpu01 stays out: it needs a valid passport") as refused:
        repair(at)
    assert (at.slurm.told, refused.value.drain) == ([], {"gpu01": "it needs a valid passport"})


BUSY = NodeInfo(frozenset({"IDLE"}), "", busy=True)
OLD = RUNNING._replace(age_s=500)


@pytest.mark.parametrize(
    ("job", "batch", "again"),
    [(OLD, False, True), (OLD._replace(requeue=False), False, True), (OLD, True, False), (RUNNING, False, False)],
    ids=["lost", "can't run again", "runs", "young"],
)
def test_a_job_whose_end_slurm_forgot_runs_again(job: JobInfo, batch: bool, again: bool, at: Made) -> None:
    """The node has closed; slurmctld was killed and took up an older state in which the job runs."""
    at.slurm.nodes["gpu01"], at.slurm.jobs[4711] = BUSY, job
    at.slurm.batch |= {4711} if batch else set()
    assert repair(at) == "closed"
    word = "scontrol requeue 4711" if job.requeue else "scancel 4711"
    assert at.slurm.told == ([word] if again else [])
    assert ("has left gpu01" in at.slurm.comment(4711)) is again


def test_a_node_without_the_taint_is_kept_from_jobs(tmp_path: Path) -> None:
    at = world(tmp_path, Cluster(gpu01=""))
    assert repair(at) == "open"
    drain = "scontrol update nodename=gpu01 state=drain reason=drawbridge gate: has no taint"
    assert at.slurm.told[0].startswith(drain)


def test_a_foreign_value_is_reported_and_left(tmp_path: Path) -> None:
    at = world(tmp_path, Cluster(gpu01="maintenance"))
    assert repair(at) == "foreign"
    assert at.cluster.value("gpu01") == "maintenance"


@pytest.mark.parametrize("given", [["gpu02", "gpu03"], ["gpu01", "gpu02"]])
def test_a_node_of_a_jobs_last_run_closes_while_the_next_one_runs_elsewhere(given: list[str], at: Made) -> None:
    """It came back late. An identity that was made for this node, too, is that of a job that shrank: it ends first."""
    hold(at.cluster, "dirty_vision.4711")
    at.slurm.jobs[4711] = RUNNING._replace(nodes=("gpu02", "gpu03"))
    for resource, body in identity.objects(JOB.owner, JOB.account, given):
        at.cluster.add(identity.path("vision", resource), body)
    at.cluster.add(PODS, pod("slurm-4711-r1-0", "gpu02"))
    at.cluster.add(PODS, pod("slurm-4711-r1-1"))
    with contextlib.suppress(Refused):
        repair(at)
    assert (at.cluster.value("gpu01") == "closed") is ("gpu01" not in given)
    assert f"{PODS}/slurm-4711-r1-1" in at.cluster.objects


def booted(at: Made) -> None:
    repair(at)
    at.host.boot = "second"


def test_after_a_boot_the_job_has_lost_the_node_and_runs_again(at: Made) -> None:
    at.slurm.jobs[4711] = RUNNING
    hold(at.cluster)
    booted(at)
    repair(at)
    assert at.cluster.values() == ["dirty_vision.4711", "vision.4711"]
    assert at.slurm.told == ["scontrol requeue 4711"]
    assert "gpu01 was booted" in at.slurm.comments[4711]
    repair(at)
    assert len(at.slurm.told) == 1, "once"


@pytest.mark.parametrize(("value", "after"), [("dirty_vision.4711", "closed"), ("vision.4711", "vision.4711")])
def test_the_next_run_of_a_job_finds_its_node_closed(value: str, after: str, at: Made) -> None:
    """Its opener waits for what the last run left; what it holds already is its own."""
    hold(at.cluster, value)
    at.slurm.jobs[4711] = RUNNING._replace(state="CONFIGURING")
    repair(at)
    assert at.cluster.value("gpu01") == after
    assert not at.slurm.told


def test_before_slurmd_starts_slurm_is_not_asked(at: Made) -> None:
    at.slurm.jobs[4711] = RUNNING
    hold(at.cluster)
    booted(at)
    at.slurm.silent = True
    boot_node("gpu01", at, at.cluster)
    assert at.cluster.value("gpu01") == "dirty_vision.4711"
    at.slurm.silent, at.host.up_s = False, 60.0
    repair(at)
    assert at.slurm.told == ["scontrol requeue 4711"], "the timer's first run tells Slurm"


def test_a_job_that_started_after_the_boot_has_lost_nothing(at: Made) -> None:
    """The timer has not run since the boot; Slurm was quicker."""
    booted(at)
    boot_node("gpu01", at, at.cluster)
    at.slurm.jobs[4711] = RUNNING._replace(age_s=8)
    hold(at.cluster)
    repair(at)
    assert at.cluster.value("gpu01") == "vision.4711"
    assert not at.slurm.told


@pytest.mark.parametrize(("up_s", "lost"), [(5.0, True), (15.0, False)])
def test_if_the_gate_ran_after_slurmd_the_jobs_age_decides(up_s: float, lost: bool, at: Made) -> None:
    booted(at)
    at.slurm.jobs[4711] = RUNNING._replace(age_s=10)
    hold(at.cluster)
    at.host.up_s = up_s
    repair(at)
    assert at.slurm.told == (["scontrol requeue 4711"] if lost else [])


@pytest.mark.parametrize(
    ("change", "batch_step", "script", "again"),
    [
        ({"age_s": 200}, False, False, True),
        ({"age_s": 200, "reason": "Prolog"}, False, False, True),
        ({"age_s": 100}, False, False, False),
        ({"age_s": 200}, True, False, False),
        ({"age_s": 200}, False, True, False),
        ({"age_s": 200, "batch": False}, False, False, False),
        ({"age_s": 200, "batch_host": "gpu02"}, False, False, False),
        ({"age_s": 200, "state": "CONFIGURING"}, False, False, False),
        ({"age_s": 200, "state": "SUSPENDED"}, False, False, False),
    ],
)
def test_a_batch_job_without_its_batch_script_runs_again(
    change: dict, batch_step: bool, script: bool, again: bool, at: Made
) -> None:
    """Nor has a boot lost it: the node is seen for the first time."""
    hold(at.cluster)
    at.slurm.jobs[4711] = RUNNING._replace(**change)
    at.slurm.batch, at.host.script = {4711} if batch_step else set(), script
    repair(at)
    assert at.slurm.told == (["scontrol requeue 4711"] if again else [])


@pytest.mark.parametrize(("told_s", "again"), [(25, False), (600, True)])
def test_a_job_whose_end_slurm_has_not_seen_is_over(
    told_s: float, again: bool, at: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step's daemon that slurmctld did not answer for 10 s tells it again 15 s later."""
    begun, sleep = at.clock.now(), at.clock.sleep

    def passes(seconds: float) -> None:
        sleep(seconds)
        if at.clock.now() >= begun + told_s:
            at.slurm.jobs[4711] = RUNNING._replace(state="COMPLETING", age_s=200)

    monkeypatch.setattr(at.clock, "sleep", passes)
    hold(at.cluster)
    at.slurm.jobs[4711] = RUNNING._replace(age_s=200)
    repair(at)
    assert at.slurm.told == (["scontrol requeue 4711"] if again else [])


def test_an_epilog_is_not_kept_waiting_for_a_second_look(at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    sleep, begun = at.clock.sleep, at.clock.now()

    def begins(seconds: float) -> None:
        sleep(seconds)
        at.host.script = True

    monkeypatch.setattr(at.clock, "sleep", begins)
    hold(at.cluster)
    at.slurm.jobs[4711] = RUNNING._replace(age_s=200)
    repair(at)
    assert at.clock.now() - begun < 3
    assert not at.slurm.told


@pytest.mark.parametrize("state", ["SUSPENDED", "STOPPED"])
def test_a_comment_says_once_that_a_suspended_jobs_pods_go_on(state: str, at: Made) -> None:
    hold(at.cluster)
    at.slurm.jobs[4711] = RUNNING._replace(state=state)
    repair(at)
    told = at.slurm.comments[4711]
    assert "suspended, but its pods and their GPUs go on: scontrol resume 4711, or scancel 4711" in told
    repair(at)
    assert at.slurm.comments[4711] == told
    assert at.cluster.value("gpu01") == "vision.4711"


@pytest.mark.parametrize(
    ("jobs", "ended"),
    [
        ({}, True),
        ({471: RUNNING}, True),
        ({4711: RUNNING}, False),
        ({4711: RUNNING._replace(state="CONFIGURING")}, False),
        ({4711: RUNNING._replace(state="CONFIGURING", nodes=())}, False),
        ({4711: RUNNING._replace(state="SUSPENDED")}, False),
        ({4711: RUNNING._replace(state="COMPLETING")}, True),
        ({4711: JobInfo("PENDING", batch=True, requeue=True)}, True),
        ({4711: RUNNING._replace(nodes=("gpu02",))}, True),
    ],
)
def test_a_job_that_is_over_loses_its_identity_and_its_nodes(jobs: dict, ended: bool, opened: Made) -> None:
    opened.slurm.jobs = jobs
    opened.cluster.add(PODS, pod("slurm-4711-r0-1"))
    assert repair_cluster(opened, opened.cluster)
    assert set(opened.cluster.values()) == ({"dirty_vision.4711"} if ended else {"vision.4711"})
    assert (f"{ACCOUNTS}/{JOB.account}" in opened.cluster.objects) is not ended
    assert (f"{PODS}/slurm-4711-r0-1" in opened.cluster.objects) is not ended


def test_a_job_whose_opener_is_at_work_is_left_alone(opened: Made) -> None:
    with locked_elsewhere(opened, 4711):
        assert repair_cluster(opened, opened.cluster)
    assert set(opened.cluster.values()) == {"vision.4711"}


def test_slurm_is_not_asked_while_no_job_has_anything(at: Made) -> None:
    at.cluster.add(ACCOUNTS, {"metadata": {"name": "default"}})
    at.slurm.silent = True
    assert repair_cluster(at, at.cluster)
