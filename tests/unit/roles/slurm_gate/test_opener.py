# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.api import Answer
from roles.slurm_gate.files.gate.config import Job, Refused
from roles.slurm_gate.files.gate.gate_names import LABEL
from roles.slurm_gate.files.gate.opener import open_job
from roles.slurm_gate.files.gate.states import Owner
from tests.unit.roles.slurm_gate.cluster import ACCOUNTS, BINDINGS, JOB, JOBS, PODS, Cluster, Made, hold, pod, world


def refused(at: Made, says: str, job: Job = JOB) -> Refused:
    """Open a job's nodes in vain."""
    with pytest.raises(Refused, match=says) as caught:
        open_job(job, at)
    return caught.value


def test_all_nodes_are_held_and_then_the_job_has_an_identity(at: Made) -> None:
    open_job(JOB, at)
    assert set(at.cluster.values()) == {"vision.4711"}
    made = [path for method, path in at.cluster.log if method == "POST"]
    assert made == [ACCOUNTS, BINDINGS.replace("rolebindings", "roles"), BINDINGS, BINDINGS]
    last_patch = max(number for number, (method, _) in enumerate(at.cluster.log) if method == "PATCH")
    assert all(method == "POST" for method, _ in at.cluster.log[last_patch + 1 :])
    assert not at.slurm.told
    patches = [path for method, path in at.cluster.log if method == "PATCH"]
    assert len(patches) == 1 + len(JOB.nodes), "a write for a node, and the self-test's dry run"
    assert at.cluster.log.count(("GET", "/api/v1/nodes")) == 1, "of those alone that have the job's label"
    assert len(at.cluster.log) == len(patches) + 4 + 8, "no list grows with the cluster"


def test_a_node_that_is_not_closed_in_time_and_none_stays_open(tmp_path: Path) -> None:
    at = world(tmp_path, Cluster(gpu01="closed", gpu02="dirty_vision.99"))
    assert list(refused(at, r"node gpu02 is not closed but dirty_vision\.99").drain) == ["gpu02"]
    assert at.cluster.values() == ["dirty_vision.4711", "dirty_vision.99"]
    assert not any("serviceaccounts" in path for path in at.cluster.objects)
    assert at.clock.now() - 1_000_000 <= at.config.patience_s


@pytest.mark.parametrize(("value", "way_out"), [("", "drawbridge:platform"), ("maintenance", "not closed but")])
def test_a_node_in_a_state_unknown_to_the_gate_is_drained_too(value: str, way_out: str, tmp_path: Path) -> None:
    at = world(tmp_path, Cluster(gpu01="closed", gpu02=value))
    assert way_out in refused(at, "gpu02").drain["gpu02"]


def test_without_policies_nothing_opens(at: Made) -> None:
    at.cluster.policies = False
    refused(at, r"drawbridge-transitions is not in force .*: run gate\.yml")
    assert set(at.cluster.values()) == {"closed"}


@pytest.mark.parametrize("missing", ["gpu01", "gpu02"])
def test_a_node_that_kubernetes_does_not_know(missing: str, at: Made) -> None:
    del at.cluster.objects[f"/api/v1/nodes/{missing}"]
    assert list(refused(at, f"{missing} is not in Kubernetes").drain) == [missing]


@pytest.mark.parametrize(
    ("collection", "left"),
    [
        (PODS, pod("slurm-4711-r0-0-abcde")),
        (JOBS, {"metadata": {"name": "slurm-4711-r0", "uid": "1"}}),
        (ACCOUNTS, identity.objects(JOB.owner, JOB.account, ())[0][1]),
        (BINDINGS, identity.objects(JOB.owner, JOB.account, ["gpu02", "gpu03"])[2][1]),
    ],
)
def test_leftovers_of_an_older_run_refuse_before_anything_opens(collection: str, left: dict, at: Made) -> None:
    at.cluster.add(collection, left)
    states = []
    at.cluster.before = lambda method, path: states.extend(at.cluster.values())
    refused(at, "older run")
    assert set(states) == {"closed"}


@pytest.mark.parametrize("others", [[], [3011, 3012]])
def test_a_jobs_identity_says_its_users_groups(others: list[int], at: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(at.host, "groups", lambda uid, gid: others, raising=False)
    open_job(JOB, at)
    role = at.cluster.objects[f"{BINDINGS.replace('bindings', 's')}/{JOB.account}"]
    subjects = at.cluster.objects[f"{BINDINGS}/{JOB.account}"]["subjects"]
    run = at.cluster.objects[f"{BINDINGS}/{JOB.account}-run"]
    assert [rule["resourceNames"] for rule in role["rules"][1:]] == ([["3011.3012"]] if others else [])
    assert [it["name"] for it in subjects] == ["gpu01", "gpu02", *([f"{JOB.account}-groups"] if others else [])]
    assert identity.nodes(at.cluster.objects[f"{BINDINGS}/{JOB.account}"]) == ["gpu01", "gpu02"]
    assert identity.groups(run) == ".".join(map(str, others))


def test_a_neighbours_leftovers_are_no_reason(at: Made) -> None:
    at.cluster.add(PODS, pod("slurm-47110-r0-0", account="slurm-47110-u2001-g3001"))
    at.cluster.add(JOBS, {"metadata": {"name": "slurm-47110-r0"}})
    open_job(JOB, at)


def test_nodes_that_an_older_run_of_the_job_still_holds_are_foreign(at: Made) -> None:
    """The gate has not proven them empty."""
    open_job(JOB, at)
    for path in [path for path in at.cluster.objects if "/namespaces/" in path]:
        del at.cluster.objects[path]
    told = refused(at, "node gpu01 is still held under this job's number", JOB._replace(restart=1, started=1200))
    assert set(told.drain) == {"gpu01", "gpu02"}
    assert set(at.cluster.values()) == {"dirty_vision.4711"}


class Losing(Cluster):
    """Answers the first write to each node only when the gate sends it again."""

    def __init__(self) -> None:
        super().__init__()
        self.lost: set[str] = set()

    def _patch(self, path: str, body: Any, query: Any) -> Answer:
        answer = super()._patch(path, body, query)
        if "dryRun" in query or path in self.lost:
            return answer
        self.lost.add(path)
        return super()._patch(path, body, query)._replace(again=True)


def test_a_node_whose_answer_was_lost_is_ours(tmp_path: Path) -> None:
    at = world(tmp_path, Losing())
    begun = at.clock.now()
    with contextlib.suppress(Refused):
        open_job(JOB, at)
    assert set(at.cluster.values()) == {"vision.4711"}
    assert at.clock.now() == begun, "at the first attempt"
    assert len([line for line in at.log.lines if '"open"' in line]) == len(JOB.nodes)


def test_a_binding_with_other_nodes_is_not_this_runs(at: Made) -> None:
    """A node that the binding does not name gets no token; one that it names too much would end the job."""
    older = identity.objects(JOB.owner, JOB.account, ["gpu02", "gpu03"])[2][1]
    at.notes.write("run-4711", {"restart": 0, "started": 1000, "namespace": "vision"})
    at.cluster.add(identity.path("vision", "rolebindings"), older)
    refused(at, "rolebindings slurm-4711-u2001-g3001 of an older run of this job still exists")
    assert set(at.cluster.values()) == {"dirty_vision.4711"}
    assert not any(JOB.account in path for path in at.cluster.objects), "the next try finds nothing of it"


@pytest.mark.parametrize(("namespace", "uid"), [("vision", 2002), ("speech", 2001), ("speech", 2002)])
@pytest.mark.parametrize("which", [0, 2], ids=["account", "trace"])
def test_a_number_that_another_job_still_has_opens_nothing(
    namespace: str, uid: int, which: int, tmp_path: Path
) -> None:
    """A slurmctld that was killed gives it twice; the former job's pods would run on the new one's nodes."""
    at = world(tmp_path, namespaces={name: name for name in ("vision", "speech")})
    former = Owner(namespace, JOB.owner.job)
    resource, body = identity.objects(former, identity.name(former.job, uid, 3001), ["gpu03"])[which]
    at.cluster.add(identity.path(namespace, resource), body)
    states = []
    at.cluster.before = lambda method, path: states.extend(at.cluster.values())
    refused(at, rf"{namespace}/slurm-4711-u{uid}-g3001 of another job with this number")
    assert set(states) == {"closed"}


@pytest.mark.parametrize("place", ["websec/helper", "websec/slurm-4711-u2002-g3001", "vision/helper"])
@pytest.mark.parametrize("resource", ["serviceaccounts", "rolebindings"])
def test_a_label_alone_holds_up_no_job(place: str, resource: str, at: Made) -> None:
    """Who may make accounts in a namespace without jobs may write the label; only the opener makes such names."""
    namespace, _, name = place.partition("/")
    body = identity.objects(Owner(namespace, JOB.owner.job), name, [])[0][1]
    at.cluster.add(identity.path(namespace, resource), body)
    open_job(JOB, at)
    assert set(at.cluster.values()) == {"vision.4711"}


GUARDS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"drawbridge-job-pods": None}, "drawbridge-job-pods of validatingadmissionpolicies is missing"),
        ({"drawbridge-job-pods": {"generation": 2}}, "drawbridge-job-pods of .* is not as gate.yml has left it"),
        ({"drawbridge-job-pods": {"uid": "anew"}}, "drawbridge-job-pods of .* is not as gate.yml has left it"),
        ({"drawbridge-more": {"generation": 1, "uid": "x"}}, "drawbridge-more of .* is not as gate.yml has left it"),
    ],
)
def test_guards_that_are_not_as_they_were_left_open_nothing(change: dict, says: str, at: Made) -> None:
    for name, fields in change.items():
        path = f"{GUARDS}/{name}"
        if fields is None:
            del at.cluster.objects[path]
        else:
            known = at.cluster.objects.get(path, {"metadata": {"name": name}})["metadata"]
            at.cluster.objects[path] = {"metadata": {**known, **fields}}
    refused(at, says)
    assert set(at.cluster.values()) == {"closed"}


def test_others_policies_are_none_of_its_business(at: Made) -> None:
    at.cluster.objects[f"{GUARDS}/theirs"] = {"metadata": {"name": "theirs", "uid": "1", "generation": 9}}
    open_job(JOB, at)


def test_a_controller_that_was_never_told_of_guards_opens_nothing(at: Made) -> None:
    (at.etc / "guards.json").unlink()
    refused(at, "has no list of the admission policies")


@pytest.mark.parametrize("value", ["vision.4711", "speech.4711"])
def test_a_node_held_under_the_number_without_an_identity_opens_nothing(value: str, tmp_path: Path) -> None:
    """slurmctld died between holding it and the identity, and gave the number to this job."""
    at = world(tmp_path, Cluster(gpu01="closed", gpu02="closed", gpu03=value))
    at.cluster.objects["/api/v1/nodes/gpu03"]["metadata"]["labels"] = {LABEL: "4711"}
    refused(at, "node gpu03 is still held under this job's number")
    assert at.cluster.values() == ["closed", "closed", value]


def test_what_another_persons_job_holds_is_not_taken_back(at: Made) -> None:
    """The value of the taint is the same; its node must not be proven for the wrong one."""
    hold(at.cluster)
    body = identity.objects(JOB.owner, identity.name(4711, 2002, 3001), JOB.nodes)[0][1]
    at.cluster.add(ACCOUNTS, body)
    refused(at, "of another job with this number")
    assert set(at.cluster.values()) == {"vision.4711"}
