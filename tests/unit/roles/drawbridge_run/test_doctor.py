# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_run.files.gate.command import Result
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.gate.slurm import SEPARATOR
from roles.drawbridge_run.files.run.context import Context
from roles.drawbridge_run.files.run.doctor import examine
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.site import Grant
from tests.unit.roles.drawbridge_run.doubles import StillClock, Tools
from tests.unit.roles.drawbridge_run.job import ADA, Paper, granted, running, waiting, write_site


class Seen(Kube):
    """A cluster with pods and events."""

    def __init__(self, pods: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
        self._found = {"pods": pods, "events": events}

    def items(self, path: str, **query: str) -> dict[str, Any]:
        return {"items": self._found[path.rpartition("/")[2]]}


@dataclass(frozen=True)
class Here(Context):
    """A host, and what its cluster shows."""

    console: Paper
    seen: Seen = field(default_factory=lambda: Seen([], []))

    def kube(self, grant: Grant) -> Kube:
        return self.seen


def here(root: Path, state: str, reason: str = "None", comment: str = "", place: str = "ai-train|vision") -> Here:
    fields = (state, "1", "1", "0", "0:10", "gpu01", reason, "gpu[01-02]", "ai-train", "2001", "4711")
    tools = Tools(
        {
            "squeue --noheader --states=all --jobs=4711 --Format=JobID:0\x1f,admin_": f"4711\x1f{comment}\x1f\n",
            "squeue --noheader --states=all --jobs=4711 --Format": SEPARATOR.join(f"{field:<10}" for field in fields),
            "squeue --noheader --states=all --jobs=4711 --format": place,
            "squeue --noheader --states=all --jobs=4700_3 --format=%A": "4711\n",
            "squeue": Result(1, "", "slurm_load_jobs error: Invalid job id specified"),
        }
    )
    paper = Paper()
    return Here({"SLURM_JOB_ID": "4711"}, StillClock(), tools, paper, ADA, write_site(root), root / "jobs")


@pytest.mark.parametrize(
    ("state", "reason", "says"),
    [
        ("PENDING", "Resources", "it is next"),
        ("PENDING", "Priority", "sprio -j 4711"),
        ("PENDING", "QOSMaxGRESPerUser", "a limit of your account or QOS"),
        ("PENDING", "AssocGrpGRES", "a limit of your account or QOS"),
        ("PENDING", "Licenses", "Slurm's reason is Licenses"),
        ("RUNNING", "None", "pods are visible on the job's nodes only: srun --jobid=4711"),
        ("COMPLETED", "None", "job 4711 is COMPLETED"),
    ],
)
def test_a_reason_is_said_in_words(tmp_path: Path, state: str, reason: str, says: str) -> None:
    context = here(tmp_path, state, reason)
    assert examine([], context) == 0
    assert any(says in line for line in context.console.printed), context.console.printed


def test_the_gates_cause_is_passed_on(tmp_path: Path) -> None:
    cause = "drawbridge gate: try 1 of 5 (run 0): the API server at ctl:6443 does not answer"
    context = here(tmp_path, "PENDING", "BeginTime", cause)
    examine(["4711"], context)
    assert f"AdminComment: {cause}" in context.console.printed


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("hpc|vision", "partition hpc gives no nodes to Kubernetes; these do: ai-train"),
        ("ai-train|physics", "account physics has no namespace in Kubernetes; these have: vision"),
    ],
)
def test_jobs_that_can_have_no_pods_are_told_so(tmp_path: Path, place: str, says: str) -> None:
    context = here(tmp_path, "PENDING", "Priority", place=place)
    examine([], context)
    assert says in context.console.printed


def test_pods_are_looked_at_with_what_their_kubelets_say(tmp_path: Path) -> None:
    context = here(tmp_path, "RUNNING")
    granted(context.jobs)
    pods = [running("a", "gpu01"), waiting("b", "gpu02", "ContainerCreating")]
    events = [{"reason": "FailedMount", "message": "no such path", "lastTimestamp": "2"}]
    examine([], replace(context, seen=Seen(pods, events)))
    printed = context.console.printed
    assert "rank 0 on gpu01: run" in printed
    assert printed[-2:] == ["rank 1 on gpu02: start", "  FailedMount: no such path"]


def test_jobs_that_slurm_forgot_are_in_its_books(tmp_path: Path) -> None:
    context = here(tmp_path, "RUNNING")
    examine(["12"], context)
    assert context.console.printed == ["Slurm has no job 12 any more: sacct -j 12 shows how it ended"]


def test_without_a_job_it_asks_which(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="name a job"):
        examine([], replace(here(tmp_path, "RUNNING"), env={}))


def test_an_arrays_element_is_asked_for_as_squeue_calls_it(tmp_path: Path) -> None:
    context = here(tmp_path, "PENDING", "Resources")
    assert examine(["4700_3"], context) == 0
    assert context.console.printed[0] == "job 4711 is PENDING (Resources)"
    with pytest.raises(Refused, match="sacct -j 4700_4 shows how it ended"):
        examine(["4700_4"], context)
