# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A call from its line to its exit code, and the doctor's look at a job."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from roles.drawbridge_run.files.gate.api import Answer
from roles.drawbridge_run.files.gate.command import Result
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.gate.slurm import SEPARATOR
from roles.drawbridge_run.files.run import launch
from roles.drawbridge_run.files.run import run as module
from roles.drawbridge_run.files.run.allocation import Allocation
from roles.drawbridge_run.files.run.context import Context
from roles.drawbridge_run.files.run.doctor import examine
from roles.drawbridge_run.files.run.kube import Kube
from roles.drawbridge_run.files.run.options import parse
from roles.drawbridge_run.files.run.run import listen, run, wait_for_grant
from roles.drawbridge_run.files.run.site import Grant
from roles.drawbridge_run.files.run.watcher import SIGNAL, Update
from tests.unit.roles.drawbridge_run.job import (
    ADA,
    ENV,
    GATE,
    SITE,
    Paper,
    StillClock,
    Tools,
    ended,
    granted,
    running,
    site,
    waiting,
    write_site,
)


@dataclass(frozen=True)
class Here(Context):
    """A host of the job."""

    console: Paper
    clock: StillClock

    def address(self, nodes: Sequence[str], grant: Grant) -> str:
        return "10.0.0.21"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setattr(module.socket, "gethostname", lambda: "gpu01")
    file = write_site(tmp_path)
    return Here(ENV, StillClock(), Tools({}), Paper(), ADA, file, tmp_path / "jobs", tmp_path / "nccl.conf")


def ask(here: Here, line: str = "--image img --dry-run -- true") -> dict[str, Any]:
    assert run(parse(line.split()), here) == 0
    return json.loads(here.console.printed[-1])


def test_a_dry_run_prints_what_would_be_created(here: Here) -> None:
    granted(here.jobs)
    here.nccl.write_text("# BEGIN drawbridge\nNCCL_IB_TC=106\n# END drawbridge\n")
    (made,) = ask(here)["items"]
    assert made["kind"] == "Job"
    env = made["spec"]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "NCCL_IB_TC", "value": "106"} in env


def test_nodes_with_other_gpus_are_refused_where_some_are_divided(here: Here) -> None:
    granted(here.jobs)
    found = Tools({"sinfo": "gpu:h100:8\ngpu:3g.40gb:16\n"})
    ask(replace(here, commands=found))
    assert found.asked == [], "other sites need no answer of Slurm's"
    here.site.write_text(json.dumps({**SITE, "unlike_nodes": True}))
    with pytest.raises(Refused, match="the job's nodes have different GPUs"):
        ask(replace(here, commands=found))
    alone = {**ENV, "SLURM_JOB_NODELIST": "gpu01", "SLURM_JOB_CPUS_PER_NODE": "128"}
    ask(replace(here, commands=found, env=alone))


def test_root_is_refused(here: Here) -> None:
    granted(here.jobs)
    with pytest.raises(Refused, match="root can't have pods"):
        ask(replace(here, user=replace(ADA, uid=0)))


@pytest.mark.parametrize("user", [replace(ADA, uid=2002), replace(ADA, gid=100)])
def test_anothers_job_is_refused(here: Here, user: Any) -> None:
    granted(here.jobs)
    with pytest.raises(Refused, match="job 4711 and its pods run as uid 2001 with group 3001"):
        ask(replace(here, user=user))


def test_a_token_that_may_not_be_read_is_anothers(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    granted(here.jobs)

    def denied(file: Path) -> str:
        if file.name == "token":
            raise PermissionError
        return "".join(f"{key}={value}\n" for key, value in GATE.items())

    monkeypatch.setattr(Path, "read_text", denied)
    with pytest.raises(Refused, match="another user's"):
        wait_for_grant(Allocation.of(ENV, site()), here)


def test_the_token_is_waited_for_and_then_missed(here: Here) -> None:
    granted(here.jobs).token.unlink()
    begun = here.clock.now()
    with pytest.raises(Refused, match="got no token within 120 s"):
        ask(here)
    assert here.clock.now() - begun >= 120
    assert here.console.shown == ["waiting for the job's token, which the gate delivers to its nodes"]


def test_elsewhere_there_is_nothing_to_wait_for(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.socket, "gethostname", lambda: "login1")
    begun = here.clock.now()
    with pytest.raises(Refused, match=r"not a node of the job: call it on gpu01, such as with srun --jobid=4711"):
        ask(here)
    assert here.clock.now() == begun


def test_a_host_without_drawbridge_says_so(here: Here) -> None:
    with pytest.raises(Refused, match="ask the administrators"):
        ask(replace(here, site=Path("/nonexistent")))


class Lingering(Kube):
    """An API server where pods end as told, and stay when their Job has gone."""

    def __init__(self, *codes: int) -> None:
        self._codes, self._pods = list(codes), []

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        if method == "POST":
            code, labels = self._codes.pop(0), body["spec"]["template"]["metadata"]["labels"]
            for node in ("gpu01", "gpu02"):
                made = ended(f"{body['metadata']['name']}-{node}", node, code)
                made["metadata"]["labels"] = labels
                self._pods.append(made)
        return Answer(200, {})

    def items(self, path: str, **query: str) -> dict[str, Any]:
        key, _, value = query.get("labelSelector", "").partition("=")
        found = [pod for pod in self._pods if pod["metadata"]["labels"].get(key) == value]
        return {"items": found, "metadata": {"resourceVersion": "1"}}

    def changes(self, path: str, version: str, **query: str) -> Iterator[dict[str, Any]]:
        threading.Event().wait()  # nothing more happens
        yield {}

    def lines(self, path: str, **query: str) -> Iterator[str]:
        yield from ()


class Passing(StillClock):
    """Time passes with every look."""

    def now(self) -> float:
        self.seconds += 0.5
        return self.seconds


def test_a_second_call_in_a_job_counts_no_pods_of_the_first(
    here: Here, handlers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in `drawbridge-run ... || drawbridge-run ...`; what a Job leaves is taken away some time after it."""
    monkeypatch.setattr(launch, "TICK_S", 0.01)
    granted(here.jobs)
    server, context = Lingering(3, 0), replace(here, clock=Passing())
    monkeypatch.setattr(Here, "kube", lambda *_: server)
    options = parse(["--image", "img", "--", "true"])
    assert [run(options, context), run(options, context)] == [3, 0]


@pytest.fixture
def handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (*module.SIGNALS, *module.PASSED_ON)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_signals_become_news(handlers: None) -> None:
    queue: SimpleQueue[Update] = SimpleQueue()
    listen(queue, 30)
    os.kill(os.getpid(), signal.SIGTERM)
    heard = queue.get(timeout=120)
    assert heard.what.code == 143
    assert "scancel, preemption, requeue or its time limit" in heard.what.text
    assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    os.kill(os.getpid(), signal.SIGUSR1)
    assert queue.get(timeout=120) == Update(SIGNAL, signal.SIGUSR1)


class Seen(Kube):
    """A cluster with pods and events."""

    def __init__(self, pods: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
        self._found = {"pods": pods, "events": events}

    def items(self, path: str, **query: str) -> dict[str, Any]:
        return {"items": self._found[path.rpartition("/")[2]]}


@dataclass(frozen=True)
class Looked(Context):
    """A host, and what its cluster shows."""

    console: Paper
    seen: Seen = field(default_factory=lambda: Seen([], []))

    def kube(self, grant: Grant) -> Kube:
        return self.seen


GOLD = "QOS=gold(3) UsageRaw=9.0 GrpTRESMins=cpu=N(7),gres/gpu=600(540) GrpTRESRunMins=gres/gpu=N(0) MaxWallPJ=\n"


def looked(root: Path, state: str, reason: str = "None", comment: str = "", place: str = "ai-train|vision") -> Looked:
    fields = (state, "1", "1", "0", "0:10", "gpu01", reason, "gpu[01-02]", "ai-train", "2001", "4711")
    tools = Tools(
        {
            "squeue --noheader --states=all --jobs=4711 --Format=JobID:0\x1f,admin_": f"4711\x1f{comment}\x1f\n",
            "squeue --noheader --states=all --jobs=4711 --Format": SEPARATOR.join(f"{field:<10}" for field in fields),
            "squeue --noheader --states=all --jobs=4711 --format=%q": "gold\ngold\n",
            "squeue --noheader --states=all --jobs=4711 --format": place,
            "scontrol --oneliner show assoc_mgr flags=qos qos=gold": GOLD,
            "squeue --noheader --states=all --jobs=4700_3 --format=%A": "4711\n",
            "squeue": Result(1, "", "slurm_load_jobs error: Invalid job id specified"),
        }
    )
    paper = Paper()
    return Looked({"SLURM_JOB_ID": "4711"}, StillClock(), tools, paper, ADA, write_site(root), root / "jobs")


@pytest.mark.parametrize(
    ("state", "reason", "says"),
    [
        ("PENDING", "Resources", "it is next"),
        ("PENDING", "Priority", "sprio -j 4711"),
        ("PENDING", "QOSMaxGRESPerUser", "a limit of your account or QOS"),
        ("PENDING", "AssocGrpGRES", "a limit of your account or QOS"),
        ("PENDING", "AssocGrpGRESMinutes", "does not fit into a limit of its account, which Drawbridge does not set"),
        ("PENDING", "AssocGrpSubmitJobsLimit", "a limit of 0 says that it is closed or has ended"),
        ("PENDING", "QOSGrpGRESMinutes", "budget of QOS gold: 9 of 10 GPU hours are used, so 1 are left; it does not"),
        ("PENDING", "QOSGrpCPUMinutesLimit", "does not fit into the budget of QOS gold; it does not begin anew"),
        ("PENDING", "Licenses", "Slurm's reason is Licenses"),
        ("RUNNING", "None", "pods are visible on the job's nodes only: srun --jobid=4711"),
        ("COMPLETED", "None", "job 4711 is COMPLETED"),
    ],
)
def test_a_reason_is_said_in_words(tmp_path: Path, state: str, reason: str, says: str) -> None:
    context = looked(tmp_path, state, reason)
    assert examine([], context) == 0
    assert any(says in line for line in context.console.printed), context.console.printed


def test_the_gates_cause_is_passed_on(tmp_path: Path) -> None:
    cause = "drawbridge gate: try 1 of 5 (run 0): the API server at ctl:6443 does not answer"
    context = looked(tmp_path, "PENDING", "BeginTime", cause)
    examine(["4711"], context)
    assert f"AdminComment: {cause}" in context.console.printed


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("hpc|vision", "partition hpc gives no nodes to Kubernetes; these do: ai-train"),
        (
            "ai-train|physics",
            "account physics has no namespace in Kubernetes, unless it is a project; others that have one: vision",
        ),
    ],
)
def test_the_command_says_why_a_job_can_have_no_pods(tmp_path: Path, place: str, says: str) -> None:
    context = looked(tmp_path, "PENDING", "Priority", place=place)
    examine([], context)
    assert says in context.console.printed


def test_pods_are_looked_at_with_what_their_kubelets_say(tmp_path: Path) -> None:
    context = looked(tmp_path, "RUNNING")
    granted(context.jobs)
    pods = [running("a", "gpu01"), waiting("b", "gpu02", "ContainerCreating")]
    events = [{"reason": "FailedMount", "message": "no such path", "lastTimestamp": "2"}]
    examine([], replace(context, seen=Seen(pods, events)))
    printed = context.console.printed
    assert "rank 0 on gpu01: run" in printed
    assert printed[-2:] == ["rank 1 on gpu02: start", "  FailedMount: no such path"]


def test_the_command_names_sacct_for_a_job_that_slurm_forgot(tmp_path: Path) -> None:
    context = looked(tmp_path, "RUNNING")
    examine(["12"], context)
    assert context.console.printed == ["Slurm has no job 12 any more: sacct -j 12 shows how it ended"]


def test_without_a_job_it_asks_which(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="name a job"):
        examine([], replace(looked(tmp_path, "RUNNING"), env={}))


def test_an_arrays_element_has_the_name_of_squeue(tmp_path: Path) -> None:
    context = looked(tmp_path, "PENDING", "Resources")
    assert examine(["4700_3"], context) == 0
    assert context.console.printed[0] == "job 4711 is PENDING (Resources)"
    with pytest.raises(Refused, match="sacct -j 4700_4 shows how it ended"):
        examine(["4700_4"], context)


def test_a_budget_that_begins_anew_has_its_next_day(tmp_path: Path) -> None:
    context = looked(tmp_path, "PENDING", "QOSGrpGRESMinutes")
    shown = json.loads(context.site.read_text())
    context.site.write_text(json.dumps({**shown, "budgets": {"gold": "year"}}))
    years = {date.today().year + 1}
    examine([], context)
    years.add(date.today().year + 1)
    printed = "\n".join(context.console.printed)
    assert any(f"it begins anew on {year}-01-01" in printed for year in years)
