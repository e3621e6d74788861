# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Audit entries here have the fields that kube-apiserver 1.36.3 writes, and of objects what is read of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.explorer.records import EVERYWHERE, NEVER, PERSON, Account, Trouble
from tests.schedules import records
from tests.schedules.plan import POWER, SLURMCTLD_KILLED

NODES = ("gpu01", "gpu02")
GATE = "system:serviceaccount:drawbridge-gate:"
OWN = "system:serviceaccount:drawbridge-nodes:gpu01"
ACCOUNT = "slurm-7-u2001-g3001"


def stamp(second: float) -> str:
    return f"2026-11-21T10:00:{second:09.6f}Z"


def at(second: float) -> float:
    return records.when(stamp(second))


def entry(second: float, version: int, verb: str, ref: dict[str, str], user: str, **more: Any) -> dict[str, Any]:
    body = {"kind": "Some", **more.pop("body", {})}
    if body != {"kind": "Status"}:
        body["metadata"] = {"resourceVersion": str(version), "uid": "u", **body.get("metadata", {})}
    return {
        "stage": "ResponseComplete",
        "verb": verb,
        "requestURI": "/api/v1/x",
        "objectRef": ref,
        "user": {"username": user},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": stamp(second - 0.01),
        "stageTimestamp": stamp(second),
        "responseObject": body,
        **more,
    }


def swap(second: float, version: int, user: str, before: str, after: str, whole: bool = True) -> dict[str, Any]:
    """A compare and swap; the answer may be the Node, or its metadata alone."""
    label = {records.LABEL: after.rpartition(".")[2]} if "." in after and "dirty" not in after else {}
    body: dict[str, Any] = {"metadata": {"name": "gpu01", "labels": label}}
    if whole:
        body["spec"] = {"taints": [{"key": "drawbridge.io/slurm", "value": after}]}
    value = "/spec/taints/0/value"
    patch = [{"op": "test", "path": value, "value": before}, {"op": "replace", "path": value, "value": after}]
    ref = {"resource": "nodes", "name": "gpu01"}
    return entry(second, version, "patch", ref, user, body=body, requestObject=patch)


def pod(second: float, version: int, verb: str = "patch", **more: Any) -> dict[str, Any]:
    states = more.pop("states", [])
    metadata = {"name": "slurm-7-r1-x-0", "namespace": "vision", **more.pop("metadata", {})}
    body = {
        "metadata": metadata,
        "spec": {"serviceAccountName": more.pop("account", ACCOUNT), **more.pop("spec", {"nodeName": "gpu01"})},
        "status": {"containerStatuses": [{"state": state} for state in states], **more.pop("status", {})},
    }
    ref = {"resource": "pods", "namespace": "vision", "name": metadata["name"]}
    return entry(second, version, verb, ref, "system:node:gpu01", body=body, **more)


def binding(second: float, node: str) -> dict[str, Any]:
    ref = {"resource": "pods", "subresource": "binding", "namespace": "vision", "name": "slurm-7-r1-x-0"}
    target = {"target": {"kind": "Node", "name": node}}
    return entry(second, 0, "create", ref, "system:kube-scheduler", body={}, requestObject=target) | {
        "responseObject": {"kind": "Status", "metadata": {}}
    }


def test_only_what_was_carried_out_counts() -> None:
    good = swap(1, 1, GATE + "opener", "closed", "vision.7")
    refused = good | {"responseStatus": {"code": 422}}
    dry = good | {"requestURI": "/api/v1/nodes/gpu01?dryRun=All"}
    panic = good | {"stage": "Panic"}
    lines = [json.dumps(it) for it in (refused, dry, panic, good)]
    assert list(records.writes(lines)) == [good]


@pytest.mark.parametrize("whole", [True, False])
def test_changes_are_those_of_taint_and_label_in_the_order_of_versions(whole: bool) -> None:
    heartbeat = entry(2.5, 6, "patch", {"resource": "nodes", "name": "gpu01"}, "system:node:gpu01", body={})
    found = records.changes(
        [
            swap(3, 7, OWN, "vision.7", "dirty_vision.7", whole),
            swap(1, 5, GATE + "opener", "closed", "vision.7", whole),
            heartbeat,
            swap(4, 8, OWN, "dirty_vision.7", "closed", whole),
        ],
        NODES,
    )
    assert [(it.at, it.before, it.after, it.label, it.by) for it in found] == [
        (at(1), "closed", "vision.7", "7", "opener"),
        (at(3), "vision.7", "dirty_vision.7", "", "gpu01"),
        (at(4), "dirty_vision.7", "closed", "", "gpu01"),
    ]


def test_a_person_and_whoever_he_impersonates() -> None:
    by_hand = swap(1, 5, "kubernetes-admin", "closed", "vision.7")
    as_opener = swap(2, 6, "kubernetes-admin", "vision.7", "dirty_vision.7")
    as_opener["impersonatedUser"] = {"username": GATE + "reconciler"}
    assert [it.by for it in records.changes([by_hand, as_opener], NODES)] == [PERSON, "reconciler"]


def test_a_container_runs_from_its_start_until_its_kubelet_says_that_it_ended() -> None:
    running = {"running": {"startedAt": stamp(2)[:19] + "Z"}}
    over = {"terminated": {"startedAt": stamp(2)[:19] + "Z", "finishedAt": stamp(4)[:19] + "Z"}}
    story = [pod(2.4, 3, states=[running]), pod(5.5, 4, states=[over]), pod(6, 5, states=[over])]
    (found,) = records.containers(story, [])
    assert (found.node, found.namespace, found.job, found.run) == ("gpu01", "vision", 7, 1)
    assert (found.start, found.end) == (at(2.4), at(5.5))
    (found,) = records.containers(story[:1], [])
    assert found.end == NEVER
    gone = pod(7, 6, "delete", states=[running], metadata={"deletionGracePeriodSeconds": 0})
    (found,) = records.containers([story[0], gone], [])
    assert found.end == at(7)
    (found,) = records.containers(story[:1], [Trouble("power", "gpu01", at(3), at(9))])
    assert found.end == at(3)


def test_a_pod_that_was_refused_has_run_nothing() -> None:
    refused = pod(2, 3, status={"phase": "Failed", "reason": "NodeAffinity"})
    assert records.containers([refused], []) == []
    assert records.reason(refused) == "NodeAffinity"


def test_what_was_bound_after_its_nodes_end_was_bound_late() -> None:
    moves = records.changes(
        [swap(1, 5, GATE + "opener", "closed", "vision.7"), swap(3, 7, OWN, "vision.7", "dirty_vision.7")], NODES
    )
    assert records.bound_late([binding(2, "gpu01")], moves) == {}
    assert records.bound_late([binding(3.2, "gpu01")], moves) == {"vision/slurm-7-r1-x-0": pytest.approx(0.2, abs=0.05)}


def test_a_pod_waits_until_it_is_bound_or_gone() -> None:
    made = pod(1, 2, "create", spec={})
    (found,) = records.unbound([made])
    assert (found.start, found.end) == (at(1), NEVER)
    (found,) = records.unbound([made, binding(2, "gpu01")])
    assert found.end == at(2)
    (found,) = records.unbound([made, pod(3, 4, "delete", metadata={"deletionGracePeriodSeconds": 0})])
    assert found.end == at(3)
    assert records.unbound([pod(1, 2, "create", spec={}, account="default")]) == []


def test_a_stranger_on_a_gated_node_is_told() -> None:
    assert records.strangers([pod(1, 2, "create", spec={}), binding(2, "gpu01")], NODES) == []
    assert records.strangers([binding(2, "gpu01")], NODES) == ["pod vision/slurm-7-r1-x-0 was bound to gpu01"]
    assert records.strangers([binding(2, "infra1")], NODES) == []


def account(second: float, verb: str, name: str = ACCOUNT) -> dict[str, Any]:
    ref = {"resource": "serviceaccounts", "namespace": "vision", "name": name}
    return entry(second, 1, verb, ref, GATE + "opener", body={"kind": "Status"})


def test_accounts_of_jobs_come_and_go() -> None:
    story = [account(1, "create"), account(2, "create", "default"), account(4, "delete"), account(9, "create")]
    assert records.accounts(story) == [Account("vision", 7, at(1), at(4)), Account("vision", 7, at(9))]


def test_lists_of_pods_are_no_pods() -> None:
    ref = {"resource": "pods", "namespace": "outsider"}
    gone = entry(1, 1, "deletecollection", ref, "x", body={"kind": "PodList", "metadata": {}})
    del gone["responseObject"]["metadata"]["uid"]
    assert records.containers([gone], []) == []


def test_what_is_deleted_with_its_collection_is_gone() -> None:
    waiting, bound = (pod(1, 2, "create", spec={"nodeName": node} if node else {}) for node in ("", "gpu01"))
    items = [it["responseObject"] for it in (waiting, bound)]
    ref = {"resource": "pods", "namespace": "vision"}
    gone = entry(3, 3, "deletecollection", ref, "x", body={"kind": "PodList", "items": items})
    first, second = records.writes([json.dumps(gone)])
    assert (first["verb"], first["objectRef"]["name"]) == ("delete", items[0]["metadata"]["name"])
    (found,) = records.unbound([waiting, first])
    assert found.end == at(3)
    assert "deletionGracePeriodSeconds" not in second["responseObject"]["metadata"], "its processes may live on"


BOOKS = """\
7|7|ai-train|vision|REQUEUED|1000|1010|gpu[01-02]
7.batch|7.batch||vision|CANCELLED|1000|1010|gpu01
7|7|ai-train|vision|COMPLETED|1200|1210|gpu[01-02]
7.batch|7.batch||vision|COMPLETED|1200|1210|gpu01
8|8|hpc|vision|CANCELLED by 2001|1300|Unknown|gpu01
10|9_1|ai-train|speech|COMPLETED|1400|1410|gpu02
9|9_2|ai-train|speech|FAILED|1420|1430|gpu02
11|11|ai-train|speech|PENDING|Unknown|Unknown|None assigned
"""
JOURNAL = """\
1003.250000 gpu01 slurmd[728]: slurmd-gpu01: Launching batch job 7 for UID 2002
1003.300000 gpu01 slurm-dispatch[1050]: job=7 kind=prolog part=50-gate rc=0 seconds=0.79
1202.500000 gpu01 slurmd[728]: slurmd-gpu01: Launching batch job 7 for UID 2002
"""
SPACES = {("ai-train", "vision"): "vision", ("ai-train", "speech"): "tongues"}


def test_runs_of_jobs_are_told_apart() -> None:
    cut = Trouble(POWER, "gpu02", 1205, 1220)
    first, second, ungated, element, _ = records.runs(BOOKS, records.launches(JOURNAL), {}, SPACES, [cut])
    assert (first.job, first.run, first.nodes, first.start) == (7, 0, ("gpu01", "gpu02"), 1000)
    assert (first.works, first.over, first.shaken) == (1003.25, 1010, NEVER)
    assert (second.run, second.works, second.over, second.shaken) == (1, 1202.5, 1210, 1205)
    assert (ungated.namespace, ungated.works, ungated.over) == ("", NEVER, NEVER)
    assert (element.job, element.namespace) == (10, "tongues")


@pytest.mark.parametrize(
    ("trouble", "since"),
    [
        (Trouble(POWER, "gpu01", 1005, 1020), 1005),
        (Trouble(POWER, "gpu03", 1005, 1020), None),
        (Trouble(POWER, "gpu01", 1010, 1020), None),
        (Trouble(SLURMCTLD_KILLED, "", 1015, 1020), 1005),
        (Trouble(SLURMCTLD_KILLED, "", 1021, 1025), None),
        (Trouble(SLURMCTLD_KILLED, "", 990, 999), None),
        (Trouble("slurmd is killed", "gpu01", 1005, 1006), None),
    ],
)
def test_what_shakes_a_run(trouble: Trouble, since: float | None) -> None:
    """A slurmctld that is killed may forget what was seconds before."""
    run = records.Run(7, 0, "vision", ("gpu01",), 1000, over=1010)
    assert records.shakes(trouble, run) == since


def test_a_submission_ends_as_its_elements_do() -> None:
    assert records.ended(BOOKS) == {
        "7": ["COMPLETED"],
        "8": ["CANCELLED"],
        "9": ["COMPLETED", "FAILED"],
        "11": ["PENDING"],
    }


def test_drains_begin_end_and_follow_each_other() -> None:
    events = "gpu01|100|110|drawbridge gate: a\ngpu01|110|130|by hand\ngpu02|100|0|Not responding\n"
    undrained = Trouble("", "gpu01", 129.5, 130.5)
    assert [(it.at, it.node, it.before, it.after, it.by) for it in records.drains(events, [undrained], [], {})] == [
        (100, "gpu01", "", "drawbridge gate: a", "slurm"),
        (100, "gpu02", "", "Not responding", "slurm"),
        (110, "gpu01", "", "by hand", "slurm"),
        (110, "gpu01", "drawbridge gate: a", "by hand", "gate"),
        (130, "gpu01", "by hand", "", PERSON),
    ]


KILL = Trouble(SLURMCTLD_KILLED, EVERYWHERE, 110, 112)


@pytest.mark.parametrize(
    ("kept", "kill", "lifted"),
    [
        ({"gpu01": ""}, [KILL], [(112, "gpu01", "drawbridge: a", "", "slurm")]),
        ({"gpu01": "drawbridge: a"}, [KILL], []),
        ({"gpu01": ""}, [], []),
        ({"gpu01": ""}, [KILL._replace(start=90, end=92)], []),
    ],
)
def test_a_drain_that_a_killed_slurmctld_forgot_lasts_in_its_books_alone(
    kept: dict[str, str], kill: list[Trouble], lifted: list[tuple[Any, ...]]
) -> None:
    """Seen: gpu02 was in service, and its event had no end, in this story and all that came after."""
    events = "gpu01|100|Unknown|drawbridge: a\n"
    found = [(it.at, it.node, it.before, it.after, it.by) for it in records.drains(events, [], kill, kept)]
    assert found == [(100, "gpu01", "", "drawbridge: a", "slurm"), *lifted]
    assert (records.later(events, 100), records.later(events, 101)) == (events.strip(), "")


def test_the_answer_to_a_deletion_is_the_last_word_though_it_has_no_version() -> None:
    """Seen: a pod that nobody had bound, deleted by the reconciler."""
    last, first = pod(2, 9, "delete"), pod(1, 3, "create")
    del last["responseObject"]["metadata"]["resourceVersion"]
    assert [it["verb"] for it in records.about([last, first], "pods")] == ["create", "delete"]


def test_what_a_killed_slurmctld_forgot_runs_for_ever_in_its_books_alone() -> None:
    kill = Trouble(SLURMCTLD_KILLED, EVERYWHERE, 1310, 1312)
    assert [run.over for run in records.runs(BOOKS, {}, {}, SPACES, [kill]) if run.job == 8] == [1312]
    assert [run.over for run in records.runs(BOOKS, {}, {}, SPACES, []) if run.job == 8] == [NEVER]
    books = "12|12|hpc|vision|RUNNING|1300|Unknown|gpu01"
    assert records.ended(books, [kill]) == {"12": [records.FORGOTTEN]}
    assert records.ended(books, []) == {"12": ["RUNNING"]}
    earlier = Trouble(SLURMCTLD_KILLED, EVERYWHERE, 1200, 1202)
    assert records.ended(books, [earlier]) == {"12": ["RUNNING"]}, "it started later"


def test_jobs_of_before_are_not_of_this_story() -> None:
    kept = records.rows(records.begun(BOOKS, 1300))
    assert [row["JobIDRaw"] for row in kept] == ["8", "10", "9", "11"]


def test_a_run_that_nobody_wrote_down_may_have_opened_nodes() -> None:
    """Seen: the opener was at work when slurmctld was killed, which then began the same run anew."""
    kill = Trouble(SLURMCTLD_KILLED, EVERYWHERE, 1390, 1392)
    extra = [run for run in records.runs(BOOKS, {}, {}, SPACES, [kill]) if run.start < 1390 and run.over == 1392]
    assert [(run.job, run.start, run.works) for run in extra] == [(8, 1300, NEVER), (10, 1380, NEVER), (9, 1380, NEVER)]


def test_a_number_that_slurmctld_forgot_and_gave_again_begins_with_run_0() -> None:
    """Seen: 48 was an array's element, and after the kill another job, whose pods are of run 0."""
    books = """\
48|42_1|ai-train|vision|RUNNING|1000|Unknown|gpu04
48|48|ai-train|vision|PREEMPTED|1100|1110|gpu[01-02]
48|48|ai-train|vision|COMPLETED|1300|1310|gpu[01-02]
"""
    kill = Trouble(SLURMCTLD_KILLED, EVERYWHERE, 1003, 1005)
    found = [run for run in records.runs(books, {}, {}, SPACES, [kill]) if run.over != 1005]
    assert [(run.start, run.run) for run in found] == [(1100, 0), (1300, 1)]


def test_a_run_that_slurmctld_took_up_again_had_left_its_nodes_when_slurmd_says_so() -> None:
    """Seen: killed 3 s after a job's end it had the job again, beside the next one on the node, for 40 s."""
    journal = """\
1003.000000 gpu01 slurm-dispatch[9]: job=13 kind=epilog part=50-gate rc=0 seconds=0.50
1036.000000 gpu01 slurm-dispatch[10]: job=13 kind=epilog part=40-site rc=0 seconds=0.25
1037.000000 gpu01 slurm-dispatch[10]: job=13 kind=epilog part=50-gate rc=-9 seconds=0.50
1038.000000 gpu02 slurm-dispatch[11]: job=13 kind=prolog part=50-gate rc=0 seconds=0.50
"""
    books = "13|13|ai-train|vision|COMPLETED|1030|1079|gpu[01-02]"
    kill = Trouble(SLURMCTLD_KILLED, EVERYWHERE, 1039, 1040)
    (run,) = records.runs(books, {}, records.epilogs(journal), SPACES, [kill])
    assert (run.over, run.left) == (1079, {"gpu01": 1035.75})
    (run,) = records.runs(books, {}, records.epilogs(journal), SPACES, [])
    assert run.left == {}, "nobody forgot anything"
