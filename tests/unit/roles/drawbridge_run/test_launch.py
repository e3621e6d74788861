# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roles.drawbridge_run.files.gate.api import Answer, Unreachable
from roles.drawbridge_run.files.gate.command import Result
from roles.drawbridge_run.files.gate.config import Refused
from roles.drawbridge_run.files.run.limits import Limit
from roles.drawbridge_run.files.run.logs import Follower
from roles.drawbridge_run.files.run.pods import Trouble
from roles.drawbridge_run.files.run.watcher import CHANGE, END_REQUESTED, GONE, LIST, SIGNAL, SILENT, Update
from tests.unit.roles.drawbridge_run.job import NAME, Scene, Tools, ended, event, running, waiting
from tests.unit.roles.slurm_gate.cluster import JOBS

BOTH_RUN = Update(LIST, [running("a", "gpu01"), running("b", "gpu02")])
SLURM_ENDS = Update(END_REQUESTED, Trouble("Slurm ends this job", 143))


def now(item: dict[str, Any], kind: str = "MODIFIED") -> Update:
    return Update(CHANGE, {"type": kind, "object": item})


WELL = [now(ended("a", "gpu01")), now(ended("b", "gpu02"))]


def timed(scene: Scene) -> tuple[int, float]:
    """The exit code, and for how long it ran."""
    begun = scene.clock.now()
    return scene.run(), scene.clock.now() - begun


def test_it_ends_well_as_its_pods_do(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [BOTH_RUN, *WELL])
    scene.log("a", "one", "two")
    assert scene.run() == 0
    assert scene.paper.printed == ["one", "two"]
    assert scene.paper.said == [f"all pods run, 1.0 s after {NAME} was made"]
    assert scene.deleted()


def test_the_exit_code_is_the_first_failing_ranks_with_its_last_lines(tmp_path: Path) -> None:
    late = ended("a", "gpu01", 143, "2025-11-21T10:00:09Z")
    scene = Scene(tmp_path, [BOTH_RUN, now(late), now(ended("b", "gpu02", 3, "2025-11-21T10:00:08Z"))])
    scene.log("a", "from rank 0")
    scene.kube.logs["/api/v1/namespaces/vision/pods/b/log"] = ["Traceback", "boom"]
    assert scene.run() == 3
    assert scene.paper.printed == ["from rank 0", "[rank 1] Traceback", "[rank 1] boom"]
    assert scene.paper.said[-1] == "rank 1 on gpu02 ended with exit code 3"
    assert scene.deleted()


def test_all_logs_have_their_rank_in_front(tmp_path: Path) -> None:
    updates = [BOTH_RUN, now(ended("a", "gpu01")), now(ended("b", "gpu02", 1))]
    scene = Scene(tmp_path, updates, "--image img --all-logs -- true")
    scene.log("a", "one")
    scene.log("b", "two")
    assert scene.run() == 1
    assert sorted(scene.paper.printed) == ["[rank 0] one", "[rank 1] two"]


@pytest.mark.parametrize(
    ("late_s", "asked", "printed"), [(50, False, True), (300, False, False), (50, True, False), (5, True, True)]
)
def test_the_last_lines_may_take_a_while_unless_slurm_ends_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late_s: int, asked: bool, printed: bool
) -> None:
    scene = Scene(tmp_path, [BOTH_RUN, *WELL, *([SLURM_ENDS] if asked else [])])
    waits: list[float] = []

    def join(_: Follower, timeout_s: float) -> bool:
        scene.clock.sleep(timeout_s)
        waits.append(timeout_s)
        return sum(waits) >= late_s

    monkeypatch.setattr(Follower, "join", join)
    assert scene.run() == 0
    assert (sum(waits) >= late_s) is printed
    assert sum(waits) <= (10 if asked else 60)
    assert scene.deleted()


NO_IMAGE, BACK_OFF = (Update(LIST, [waiting("a", "gpu01", "ErrImagePull", it)]) for it in ("timeout", "Back-off"))
STARTING = Update(LIST, [waiting(name, f"gpu0{at}", "ContainerCreating") for at, name in ((1, "a"), (2, "b"))])
LOST = now(running("b", "gpu02", "False"))
PULL = "the image can't be pulled on gpu01: "
START = "rank 1 on gpu02 does not start (FailedCreatePodSandBox): pause: not found"
IS_LOST = "rank 1 on gpu02 is lost: its node's kubelet does not report"
EVENTS = [
    event("b", "FailedCreatePodSandBox", "pause: not found", 1),
    event(NAME, "FailedCreate", "exceeded quota", 1),
    event(NAME, "Overwritten", "a detail", 2),
]
GOES = [now(ended("a", "gpu01", 143)), now(running("b", "gpu02"), "DELETED")]
ENDS: dict[str, tuple[list[Update], str, int, tuple[int, int], str]] = {
    "words that change": ([NO_IMAGE, BACK_OFF] * 40, "--patience 60", 125, (60, 70), PULL),
    # a kubelet without the image of its sandboxes tells events only
    "events only": ([STARTING], "--patience 5", 125, (5, 15), START),
    "no pods": ([Update(LIST, [])], "--patience 20", 125, (20, 30), f"{NAME} has no pods: exceeded quota"),
    "a lost node, sooner than a slow start": ([BOTH_RUN, LOST], "", 125, (60, 70), IS_LOST),
    # nodes are taken for lost meanwhile, and kubelets may need most of a minute to say otherwise
    "an absence of the API server": ([BOTH_RUN, *[LOST] * 50, BOTH_RUN, *WELL], "", 0, (50, 60), IS_LOST),
    "silence": ([BOTH_RUN, Update(SILENT, "no answer"), *WELL], "", 0, (0, 6), "no answer; the pods run on"),
    "Slurm, and then the pods": ([BOTH_RUN, SLURM_ENDS, *GOES], "", 143, (0, 6), "Slurm ends this job"),
    # KillWait is 30 s: the gate ends the remaining pods
    "Slurm, and pods that take time": ([BOTH_RUN, SLURM_ENDS], "--grace 120", 143, (27, 30), "Slurm ends this job"),
    "no rights": ([BOTH_RUN, Update(GONE, "Unauthorized")], "", 125, (0, 6), "the gate has ended this job's rights"),
}


@pytest.mark.parametrize("name", ENDS)
def test_what_ends_it_and_what_does_not(name: str, tmp_path: Path) -> None:
    updates, options, wanted, (least_s, most_s), says = ENDS[name]
    scene = Scene(tmp_path, updates, f"--image img {options} -- true")
    scene.kube.events = EVENTS
    code, took_s = timed(scene)
    assert (code, least_s <= took_s < most_s) == (wanted, True), took_s
    assert scene.paper.said[-1].startswith(says)
    assert len(scene.paper.said) <= 3, "nothing is said again and again"
    assert scene.deleted()


def test_a_signal_for_the_pods_ends_nothing(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [BOTH_RUN, Update(SIGNAL, 10), *WELL])
    assert scene.run() == 0
    assert scene.signal_sender.sent == [(10, ["a", "b"])]


def test_pods_get_sigterm_in_time_before_the_limit(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [BOTH_RUN], "--image img --grace 60 -- true", seconds_left=100)
    code, took_s = timed(scene)
    assert "time limit is near: the pods get SIGTERM and have 60 s" in scene.paper.said[-1]
    # told 75 s before the limit, so 25 s after the start, and waited for as long as they have
    assert code == 124 and 25 + 60 < took_s < 100
    assert scene.deleted()


def test_kept_pods_stay_until_the_job_ends(tmp_path: Path) -> None:
    scene = Scene(tmp_path, [BOTH_RUN, *WELL], "--image i --keep -- true")
    assert scene.run() == 0
    assert not scene.deleted()


def test_an_answer_that_is_lost_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is sent again then, and finds what it has made."""
    scene = Scene(tmp_path, [BOTH_RUN, *WELL])
    post = scene.cluster._post
    monkeypatch.setattr(scene.cluster, "_post", lambda *asked: (post(*asked), post(*asked))[1])
    assert scene.run() == 0
    assert scene.deleted()


def test_a_workload_that_may_be_there_is_taken_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any answer it may exist; what the script does next must not find its nodes taken."""
    scene = Scene(tmp_path, [])
    post = scene.cluster._post

    def silent(*asked: Any) -> Answer:
        post(*asked)
        raise Unreachable("the API server does not answer")

    monkeypatch.setattr(scene.cluster, "_post", silent)
    with pytest.raises(Unreachable):
        scene.run()
    assert scene.deleted()


TRAINERS = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/vision/trainjobs"
UNKNOWN = "specified trainingRuntime must be created before"
UNCOUNTED = "jobs is forbidden: status unknown for quota: drawbridge"


@pytest.mark.parametrize(
    ("path", "says", "refusals", "made"),
    [
        (TRAINERS, UNKNOWN, 3, True),
        (TRAINERS, UNKNOWN, 40, True),
        (TRAINERS, UNKNOWN, 90, False),
        (JOBS, UNCOUNTED, 300, True),
        (JOBS, UNCOUNTED, 400, False),
    ],
)
def test_an_object_that_may_be_accepted_soon_is_offered_again(
    tmp_path: Path, path: str, says: str, refusals: int, made: bool
) -> None:
    """Trainer's webhook looks a runtime up in its cache. The runtime's own answer was late.

    Admission refuses a kind that was defined a moment ago until Kubernetes has counted it.
    """
    backend = "trainjob" if path == TRAINERS else "job"
    scene = Scene(tmp_path, [BOTH_RUN, *WELL], f"--image i --backend {backend} -- true")
    scene.cluster.scripted["POST", path] = [Answer(403, {"message": says})] * refusals
    late = ("POST", TRAINERS.replace("trainjobs", "trainingruntimes"))
    scene.cluster.before = lambda *asked: scene.clock.sleep(100) if asked == late else None
    if made:
        assert scene.run() == 0
        return
    with pytest.raises(Refused, match=f"refuses the workload: {says}"):
        scene.run()
    assert scene.cluster.log[-1][0] == "DELETE"


@pytest.mark.parametrize(
    "answer", [Answer(403, {"message": "no"}), Answer(409, {"message": "no", "reason": "Conflict"})]
)
def test_a_first_object_is_refused_at_once(tmp_path: Path, answer: Answer) -> None:
    scene = Scene(tmp_path, [])
    scene.cluster.scripted["POST", JOBS] = [answer] * 2
    begun = scene.clock.now()
    with pytest.raises(Refused, match="refuses the workload: no"):
        scene.run()
    assert scene.clock.now() == begun


def test_the_launcher_asks_slurm_again_before_it_believes_the_limit() -> None:
    """A limit may be extended while the job runs."""
    answers = {"squeue": "7 10:00"}
    tools = Tools(answers)
    limit = Limit(7, 45, tools, 0.0)
    assert not limit.reached(0.0)
    assert not limit.reached(539.0)
    assert len(tools.asked) == 1
    answers["squeue"] = "7 1-00:00:30"
    assert not limit.reached(540.0)
    answers["squeue"] = "7 0:59"
    assert not limit.reached(4139.0)
    assert limit.reached(4141.0)


@pytest.mark.parametrize("said", [Result(1, "", "no answer"), "", "7 UNLIMITED", "7 INVALID"])
def test_without_a_limit_nothing_ends(said: Result | str) -> None:
    limit = Limit(7, 45, Tools({"squeue": said}), 0.0)
    assert not any(limit.reached(float(now)) for now in range(0, 10000, 10))


def test_other_elements_of_an_array_have_limits_of_their_own() -> None:
    assert not Limit(7, 45, Tools({"squeue": "9 0:30\n7 10:00\n8 0:10\n"}), 0.0).reached(0.0)
    assert Limit(7, 45, Tools({"squeue": "9 10:00\n7 0:40\n"}), 0.0).reached(0.0)
