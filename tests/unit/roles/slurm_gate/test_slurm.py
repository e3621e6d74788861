# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Answers are those of Slurm 24.11.5, captured. What the gate itself wrote into comments is read, too."""

from __future__ import annotations

import pytest

from roles.slurm_gate.files.gate.command import NO_ANSWER, Result
from roles.slurm_gate.files.gate.retry import comment, count, explain
from roles.slurm_gate.files.gate.slurm import JobInfo, NoAnswer, Running, Slurm, parse_node
from tests.unit.roles.slurm_gate.cluster import Tools

RUNNING = "RUNNING\x1f1\x1f1\x1f0\x1f1-02:03:04\x1fgpu01\x1fNone\x1fgpu[01-02]\x1fai-train\x1f2001\x1f1\x1f\n"
PENDING = "PENDING\x1f1\x1f1\x1f2\x1f0:00\x1fn/a\x1fBeginTime\x1f\x1fai-train\x1f2001\x1f1\x1f\n"
DOWN = Result(1, "", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)")
UNKNOWN = Result(1, "", "slurm_load_jobs error: Invalid job id specified")
NODE = "NodeName=gpu02 Gres=gpu:h100:8(S:0-1) State={} ThreadsPerCore=2 TmpDisk=0 AveWatts=0  {}"
PIDS = """PID      JOBID    STEPID   LOCALID GLOBALID
853      1        batch    0       0
854      1        batch    -       -
901      2        0        0       0
"""


def test_a_job_as_squeue_prints_it() -> None:
    job = Slurm(Tools({"squeue": RUNNING})).job(1)
    assert job == JobInfo("RUNNING", True, True, 0, 93784, "gpu01", "None", ("gpu01", "gpu02"), "ai-train", 2001)
    assert job.running and job.has("gpu02") and not job.has("gpu03")


@pytest.mark.parametrize("said", [DOWN, Result(NO_ANSWER, "", "timed out")])
def test_no_answer_is_not_no_job(said: Result) -> None:
    slurm = Slurm(Tools({"squeue": said, "scontrol": said}))
    for question in (
        lambda: slurm.job(1),
        lambda: slurm.running(["ai-train"]),
        lambda: slurm.node("gpu01"),
        lambda: slurm.drain("gpu01", ""),
    ):
        with pytest.raises(NoAnswer):
            question()


def test_a_job_that_slurm_has_not_is_gone() -> None:
    assert Slurm(Tools({"squeue": UNKNOWN})).job(1).state == "GONE"


def test_all_running_jobs_with_their_nodes() -> None:
    tools = Tools({"squeue": "7 2001 gpu[01-02]\n8 2002 gpu04\n9 2002\n"})
    found = Slurm(tools).running(["ai-train", "gold"])
    assert found == {7: Running(2001, ("gpu01", "gpu02")), 8: Running(2002, ("gpu04",)), 9: Running(2002, ())}
    assert "--states=R,CF,S,ST,SI --partition=ai-train,gold " in tools.asked[0]


def test_jobs_of_some_partitions_on_a_node() -> None:
    tools = Tools({"squeue": "7 gpu[01-02]\n8 gpu02\n"})
    assert Slurm(tools).running_on("gpu02", ["ai-train", "ai-test"]) == [7, 8]
    (asked,) = tools.asked
    assert "--states=R,SI --nodelist=gpu02 --partition=ai-train,ai-test" in asked


@pytest.mark.parametrize(
    ("state", "reason", "ours", "lost"),
    [
        ("IDLE+DRAIN", "Reason=drawbridge gate: end [it] now [root@2026-11-21T13:57:58]", True, False),
        ("MIXED+DRAIN", "Reason=bad disk [root@2026-11-21T13:57:58]", False, False),
        ("DOWN*", "Reason=Not responding [slurm@2026-11-21T13:57:58]", False, True),
        ("DOWN+DRAIN", "Reason=Not responding [slurm@2026-11-21T13:57:58]", False, False),
        ("DOWN+DRAIN", "Reason=drawbridge gate: end it [root@2026-11-21T13:57:58]", True, False),
        ("DOWN+DRAIN", "Reason=drawbridge gate: end it : Not responding [slurm@2026-11-21T13:57:58]", True, False),
        ("DOWN*", "Reason=drawbridge gate: long ago : Not responding [slurm@2026-11-21T13:57:58]", False, True),
        ("DOWN", "Reason=bad disk : Node unexpectedly rebooted [slurm@2026-11-21T13:57:58]", False, True),
        ("DOWN", "Reason=Not responding, ticket 42 [root@2026-11-21T13:57:58]", False, False),
        ("IDLE", "", False, False),
    ],
)
def test_a_node_as_scontrol_prints_it(state: str, reason: str, ours: bool, lost: bool) -> None:
    info = parse_node(NODE.format(state, reason))
    assert (info.drained_by_us, info.lost) == (ours, lost)
    assert reason in (f"Reason={info.reason} [root@2026-11-21T13:57:58]", "") or lost or "slurm@" in reason


@pytest.mark.parametrize(("cpus", "busy"), [("CPUAlloc=128 CPUEfctv=128", True), ("CPUAlloc=0 CPUEfctv=128", False)])
def test_a_node_that_is_idle_may_be_given_away_all_the_same(cpus: str, busy: bool) -> None:
    """Seen after a kill of slurmctld, which took up an older state."""
    assert parse_node(NODE.format("IDLE", cpus)).busy is busy


@pytest.mark.parametrize(
    ("state", "reason", "drains"),
    [
        ("IDLE", "", True),
        ("IDLE+DRAIN", "Reason=bad disk, call Ben [ben@2026-11-21T13:57:58]", False),
        ("IDLE+DRAIN", "Reason=drawbridge gate: older [root@2026-11-21T13:57:58]", True),
        ("IDLE+DRAIN", "Reason=drawbridge gate: look [root@2026-11-21T13:57:58]", False),
    ],
)
def test_a_foreign_drain_is_not_replaced(state: str, reason: str, drains: bool) -> None:
    tools = Tools({"scontrol --oneliner show node": NODE.format(state, reason), "scontrol update": ""})
    Slurm(tools).drain("gpu02", "look")
    updates = [words for words in tools.asked if "update" in words]
    wanted = "/usr/bin/scontrol update nodename=gpu02 state=drain reason=drawbridge gate: look"
    assert updates == ([wanted] if drains else [])


def test_processes_of_jobs() -> None:
    slurm = Slurm(Tools({"scontrol listpids": PIDS}))
    assert slurm.pids() == {853: 1, 854: 1, 901: 2}
    assert slurm.has_batch_step(1)
    assert not Slurm(Tools({"scontrol listpids": Result(1, "", "There are no steps for job 77")})).has_batch_step(77)


def test_steps_that_do_not_answer_are_not_none() -> None:
    """A healthy job would be run again, and its processes be taken for another program's."""
    slurm = Slurm(Tools({"scontrol listpids": Result(NO_ANSWER, "", "timed out after 20 seconds")}))
    for question in (slurm.pids, lambda: slurm.has_batch_step(1)):
        with pytest.raises(NoAnswer, match="timed out"):
            question()


def test_the_comment_is_read_back() -> None:
    """As a field: in what `scontrol show job` prints, a job's name with a line break forged it (Slurm 24.11.5)."""
    tools = Tools({"squeue": "2\x1fdrawbridge gate: why\x1f\n"})
    assert Slurm(tools).comment(2) == "drawbridge gate: why"
    assert tools.asked[0].endswith("--Format=JobID:0\x1f,admin_comment:0\x1f")
    assert Slurm(Tools({"squeue": "2\x1f(null)\x1f\n"})).comment(2) == ""


LINE = "{}\x1f1\x1f1\x1f0\x1f0:07\x1f{}\x1fNone\x1f{}\x1fai-train\x1f2001\x1f{}\x1f\n"
ARRAY = LINE.format("COMPLETED", "gpu01", "gpu01", 12) + LINE.format("RUNNING", "gpu02", "gpu02", 10)
FIELD = "squeue --noheader --states=all --jobs={} --Format=JobID:0\x1f,{}:0"
NAMES = {
    FIELD.format(10, "JobArrayID"): "12\x1f10_1\x1f\n10\x1f10_2\x1f\n",
    FIELD.format(12, "JobArrayID"): "12\x1f10_1\x1f\n",
}
COMMENTS = "12\x1fdrawbridge gate: of the first\x1f\n10\x1fdrawbridge gate: of the last\x1f\n"


def test_an_arrays_number_is_the_last_elements_too() -> None:
    """Slurm 24.11.5 shows and changes all elements for it: the last one would be judged by the first one's end."""
    tools = Tools({**NAMES, FIELD.format(10, "admin_comment"): COMMENTS, "squeue": ARRAY, "s": ""})
    slurm = Slurm(tools)
    assert slurm.job(10).has("gpu02")
    assert not slurm.job(12).running
    assert slurm.job(11).state == "GONE"
    assert slurm.comment(10) == "drawbridge gate: of the last"
    slurm.set_comment(10, "why")
    slurm.notify(10, "why")
    slurm.hold(10)
    slurm.end_run(10, slurm.job(10))
    slurm.end_run(10, JobInfo("RUNNING", batch=True))
    done = [words.removeprefix("/usr/bin/") for words in tools.asked if "squeue" not in words]
    assert done == [
        "scontrol update jobid=10_2 admincomment=why",
        "scontrol notify 10_2 why",
        "scontrol requeuehold 10_2",
        "scontrol requeue 10_2",
        "scancel 10_2",
    ]


def test_any_other_element_is_called_by_its_own_number() -> None:
    tools = Tools({**NAMES, "s": ""})
    Slurm(tools).hold(12)
    assert tools.asked[-1] == "/usr/bin/scontrol requeuehold 12"


def test_what_squeue_does_not_show_is_not_touched() -> None:
    tools = Tools({"squeue": "13\x1f10_2\x1f\n", "s": ""})
    with pytest.raises(NoAnswer, match="shows no job 10"):
        Slurm(tools).hold(10)


@pytest.mark.parametrize(
    ("before", "restart", "number"),
    [
        ("", 0, 1),
        ("call Ben", 3, 1),
        (comment("", explain("no answer", 2, 5, 6)), 7, 3),
        (comment("", explain("no answer", 2, 5, 6)), 6, 2),
        (comment("", explain("no answer", 2, 5, 6)), 8, 1),
        (comment("call Ben", explain("no answer", 4, 5, 6)), 7, 5),
    ],
    ids=["first", "a person wrote", "next in a row", "killed and run again", "one in between went well", "both"],
)
def test_tries_in_a_row_are_counted(before: str, restart: int, number: int) -> None:
    assert count(before, restart) == number


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "drawbridge gate: why"),
        ("drawbridge gate: old", "drawbridge gate: why"),
        ("call Ben", "call Ben | drawbridge gate: why"),
        ("call Ben | drawbridge gate: old", "call Ben | drawbridge gate: why"),
    ],
)
def test_what_a_person_wrote_stays(before: str, after: str) -> None:
    assert comment(before, "why") == after
