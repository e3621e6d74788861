# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who changed a node: by its own fields, by Slurm's accounting, by the audit log."""

from __future__ import annotations

import json
from typing import Any

import pytest

from roles.drawbridge_status.files.gate.gate_names import LABEL, TAINT
from roles.drawbridge_status.files.status import history_text
from roles.drawbridge_status.files.status.actors_text import actors
from roles.drawbridge_status.files.status.history_text import drains, writes
from roles.drawbridge_status.files.status.model import Actor, Node, SlurmNode


def entry(manager: str, time: str, **fields: Any) -> dict[str, Any]:
    """One program's fields."""
    owned = {f"f:{name}": value for name, value in fields.items()}
    return {"manager": manager, "operation": "Update", "time": time, "fieldsV1": owned}


def node(*entries: dict[str, Any], **spec: Any) -> str:
    return json.dumps({"metadata": {"name": "gpu01", "managedFields": list(entries)}, "spec": spec})


TAINTED, LABELLED = {"f:taints": {}}, {"f:labels": {".": {}, f"f:{LABEL}": {}}}


def test_programs_of_drawbridge_and_of_kubernetes_are_no_news() -> None:
    shown = node(
        entry("kubelet", "2026-11-24T01:00:00Z", spec=TAINTED, metadata={"f:annotations": {}}),
        entry("drawbridge-gate", "2026-11-25T01:00:00Z", spec=TAINTED, metadata=LABELLED),
        taints=[{"key": TAINT, "value": "closed"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}],
    )
    assert actors(shown) == ()


def test_a_cordon_a_taint_and_our_label_have_their_writer_and_time() -> None:
    shown = node(
        entry("drawbridge-gate", "2026-11-25T01:00:00Z", spec=TAINTED, metadata=LABELLED),
        entry("kubectl-cordon", "2026-11-25T02:00:00Z", spec={"f:unschedulable": {}}),
        entry("kubectl-edit", "2026-11-25T03:00:00Z", spec=TAINTED, metadata=LABELLED),
        entry("", "2026-11-25T04:00:00Z", metadata={"f:labels": {"f:rack": {}}}),
        unschedulable=True,
    )
    assert actors(shown) == (
        Actor("taints", "kubectl-edit", "2026-11-25T03:00:00Z"),
        Actor(f"label {LABEL}", "kubectl-edit", "2026-11-25T03:00:00Z"),
        Actor("cordon", "kubectl-cordon", "2026-11-25T02:00:00Z"),
    )


def test_the_latest_writer_counts() -> None:
    shown = node(
        entry("kubectl-taint", "2026-11-25T02:00:00Z", spec=TAINTED),
        entry("drawbridge-gate", "2026-11-25T03:00:00Z", spec=TAINTED),
    )
    assert actors(shown) == ()


def test_taints_of_others_are_named() -> None:
    shown = node(taints=[{"key": TAINT, "value": "closed"}, {"key": "example.com/repair", "effect": "NoExecute"}])
    assert actors(shown) == (Actor("taint example.com/repair:NoExecute", ""),)


EVENTS = """\
2026-11-20T08:00:00|DOWN*|Not responding|slurm(64030)
2026-11-21T08:00:00|DRAIN|drawbridge gate: not proven empty, pod a is still here|root(0)
2026-11-22T08:00:00|DRAIN|Prolog error|root(0)
2026-11-23T08:00:00|DRAIN||root(0)
2026-11-24T09:12:40|DRAIN|new fan|ben(1002)
2026-11-25T01:02:03|MIXED+DRAIN|rack a|b (west)|ann(1003)
a broken line
"""
WRITE: dict[str, Any] = {
    "kind": "Event",
    "stage": "ResponseComplete",
    "verb": "patch",
    "user": {"username": "ann"},
    "userAgent": "kubectl/v1.36.3 (linux/amd64)",
    "objectRef": {"resource": "nodes", "name": "gpu01"},
    "responseStatus": {"code": 200},
    "stageTimestamp": "2026-11-24T09:10:02.123456Z",
}
CORDON = Actor("patch of the Node object with kubectl", "ann", "2026-11-24T09:10:02Z")


def test_drains_by_people_are_named_and_those_of_daemons_are_not() -> None:
    assert drains(EVENTS) == (
        Actor("drain in Slurm (new fan)", "ben", "2026-11-24T09:12:40"),
        Actor("drain in Slurm (rack a|b (west))", "ann", "2026-11-25T01:02:03"),
    )


def test_the_present_drain_is_named_once() -> None:
    old, now = drains(EVENTS)
    slurm = SlurmNode("gpu01", "IDLE", frozenset({"DRAIN"}), "rack a|b (west)", "ann", "2026-11-25T01:02:03")
    assert Node("gpu01", slurm, writes=(old, now)).actors == (now, old)


def test_a_write_has_its_user_and_program() -> None:
    assert writes([json.dumps(WRITE)], "gpu01") == (CORDON,)
    status = {**WRITE, "objectRef": {**WRITE["objectRef"], "subresource": "status"}}
    assert writes([json.dumps(status)], "gpu01")[0].what == "patch of the Node object (status) with kubectl"


@pytest.mark.parametrize(
    "other",
    [
        {"verb": "get"},
        {"stage": "RequestReceived"},
        {"responseStatus": {"code": 403}},
        {"objectRef": {"resource": "nodes", "name": "gpu011"}},
        {"objectRef": {"resource": "leases", "name": "gpu01", "namespace": "nodes"}},
        {"user": {"username": "system:node:gpu01"}},
        {"user": {"username": "system:serviceaccount:drawbridge-gate:opener"}},
        {"user": {"username": "system:serviceaccount:kube-system:node-controller"}},
        {"userAgent": "drawbridge"},
    ],
    ids=str,
)
def test_reads_refusals_and_expected_writers_are_no_news(other: dict[str, Any]) -> None:
    assert writes([json.dumps({**WRITE, **other})], "gpu01") == ()


def test_broken_lines_are_skipped_and_the_latest_writes_stay() -> None:
    lines = [json.dumps({**WRITE, "user": {"username": f"user{at}"}}) for at in range(history_text.MOST + 3)]
    found = writes(['"nodes" "gpu01" {', '["nodes", "gpu01"]', *lines], "gpu01")
    assert [one.who for one in found][:1] == ["user3"]
    assert len(found) == history_text.MOST
