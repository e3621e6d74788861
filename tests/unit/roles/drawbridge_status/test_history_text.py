# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest

from roles.drawbridge_status.files.status import history_text
from roles.drawbridge_status.files.status.history_text import drains, writes
from roles.drawbridge_status.files.status.model import Actor, Node, SlurmNode

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
