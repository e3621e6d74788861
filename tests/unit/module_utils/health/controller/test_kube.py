# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a Node object says of a node's health, and what findings it gives."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller import kube
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.kube import (
    Condition,
    Last,
    Node,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import (
    DRAIN,
    LIFT,
    Act,
    Memory,
    Seen,
    decide,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    REPAIR,
    Finding,
    Report,
    reason,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health

NOW = 1764410400.0
"""2025-11-29T10:00:00Z."""
SAID = "ErrorCode:79 gpu:0 XID error occured Recommended Action=NODE_REBOOT;"
"""As NVSentinel's own tests have it."""
HEALTH = Health(conditions=("GpuXidError", "KernelDeadlock"), cordons=True)
GPU = Finding("GPU 3: GPU memory rows: 1 failed to remap", ends=REPAIR)


def condition(kind: str, status: str, message: str = "", **more: str) -> dict[str, Any]:
    return {"type": kind, "status": status, "message": message, **more}


def item(name: str = "gpu01", *conditions: dict[str, Any], spec: Any = None, managed: Any = ()) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "managedFields": list(managed)},
        "spec": spec or {},
        "status": {"conditions": [condition("Ready", "True"), *conditions]},
    }


def writer(manager: str, time: str, fields: Any = None, **more: str) -> dict[str, Any]:
    return {"manager": manager, "time": time, "fieldsV1": fields or {"f:spec": {"f:unschedulable": {}}}, **more}


def cordoned(*managed: dict[str, Any], name: str = "gpu01") -> Node:
    return kube.node(item(name, spec={"unschedulable": True}, managed=managed), ())


def read(*items: dict[str, Any], health: Health = HEALTH, before: Any = None) -> tuple[dict[str, Any], list[str]]:
    return kube.found([kube.node(it, health.conditions) for it in items], health, before or {})


def test_a_condition_that_the_site_names_is_a_finding_while_it_is_true() -> None:
    found, said = read(
        item("gpu01", condition("GpuXidError", "True", SAID)),
        item("gpu02", condition("GpuXidError", "False", "No Health Failures"), condition("Other", "True", "x")),
        item("gpu03", condition("KernelDeadlock", "True", reason="DockerHung")),
        item("gpu04"),
    )
    [it] = found["gpu01"]
    assert (it.text, it.fault, it.ends) == (
        "GpuXidError: ErrorCode:79 gpu:0 XID error occured Recommended Action = NODE_REBOOT,",
        "node",
        "",
    )
    assert found["gpu03"] == (Finding("KernelDeadlock: DockerHung"),)
    assert (set(found), said) == ({"gpu01", "gpu03"}, [])


def test_neither_ready_nor_its_own_condition_is_ever_a_finding() -> None:
    wrong = Health(conditions=("Ready", "DrawbridgeHealth"))
    assert read(item("gpu01", condition("DrawbridgeHealth", "True")), health=wrong) == ({}, [])


def test_an_unknown_condition_neither_drains_nor_lifts() -> None:
    unknown = [item(name, condition("GpuXidError", "Unknown")) for name in ("gpu02", "gpu01")]
    before = {"gpu01": (Finding("GpuXidError: XID 79"), Finding("KernelDeadlock: x"))}
    found, said = read(*unknown, before=before)
    assert (found, said) == ({"gpu01": (Finding("GpuXidError: XID 79"),)}, ["GpuXidError is unknown on gpu[01-02]"])


def test_a_cordon_names_the_manager_that_wrote_it_last() -> None:
    label = writer("kubectl-label", "2025-11-29T12:00:00Z", {"f:metadata": {"f:labels": {"f:a": {}}}})
    status = writer("kubelet", "2025-11-29T13:00:00Z", subresource="status")
    managed = [writer("kured", "2025-11-29T10:00:00Z"), writer("kubectl", "2025-11-29T11:00:00Z"), label, status]
    assert cordoned(*managed).cordoned_by == "kubectl"
    found, _said = kube.found([cordoned(*managed)], HEALTH, {})
    assert found == {"gpu01": (Finding("cordon: by kubectl"),)}


def test_a_cordon_counts_only_where_the_site_turns_it_on() -> None:
    assert kube.found([cordoned(writer("kubectl", ""))], Health(), {}) == ({}, [])


@pytest.mark.parametrize("manager", ["drawbridge", "drawbridge-gate"])
def test_a_cordon_of_drawbridges_own_does_not_count(manager: str) -> None:
    assert cordoned(writer(manager, "2025-11-29T11:00:00Z")).cordoned_by == ""


@pytest.mark.parametrize("managed", [(), (writer("", ""),), (writer("a", "", {"f:spec": None}),)])
def test_a_cordon_without_a_manager_counts(managed: tuple[Any, ...]) -> None:
    assert cordoned(*managed).cordoned_by == "an unnamed program"


@pytest.mark.parametrize(
    "wrong", [None, {}, {"metadata": {}}, {"metadata": {"name": "a"}, "status": {"conditions": [3]}}]
)
def test_another_object_is_an_error(wrong: Any) -> None:
    with pytest.raises(ValueError, match="not a Node object"):
        kube.node(wrong, ())


def test_of_a_node_only_what_counts_is_kept() -> None:
    assert [*kube.node(item("a", condition("GpuXidError", "False"), THERE), HEALTH.conditions).conditions] == [
        "GpuXidError",
        "DrawbridgeHealth",
    ]


def test_a_node_without_status_has_no_condition() -> None:
    assert kube.node({"metadata": {"name": "a"}}, HEALTH.conditions) == Node("a", {})


def test_a_cordon_drains_and_an_uncordon_lifts_only_that_drain() -> None:
    found, _said = kube.found([cordoned(writer("kubectl", ""), name="gpu01")], HEALTH, {})
    units = {"leaf": ["gpu01", "gpu02"]}
    [drain] = decide([Seen("gpu01", "IDLE")], units, HEALTH, Memory(), NOW, found).acts
    assert drain == Act(DRAIN, "gpu01", "drawbridge: health: cordon: by kubectl")
    both = [Seen("gpu01", "IDLE", frozenset({"DRAIN"}), it) for it in (drain.text, "a person's", reason([GPU]))]
    assert [decide([it], units, HEALTH, Memory(), NOW, {}).acts for it in both] == [(Act(LIFT, "gpu01"),), (), ()]


def drained(why: str, comment: str = "") -> Seen:
    return Seen("gpu01", "IDLE", frozenset({"DRAIN"}), why, comment)


@pytest.mark.parametrize(
    ("seen", "others", "wanted"),
    [
        (Seen("gpu01", "IDLE"), (), Condition("False", "Healthy", "no findings")),
        (Seen("gpu01", "IDLE", reason=reason([GPU])), (), Condition("False", "Healthy", "no findings")),
        (drained(reason([GPU])), (), Condition("True", "NeedsRepair", reason([GPU]))),
        (
            drained(reason([Finding("a", ends="reboot")])),
            (),
            Condition("True", "NeedsReboot", "drawbridge: health: [node reboot] a"),
        ),
        (drained(reason([Finding("a")])), (), Condition("True", "Drained", "drawbridge: health: a")),
        (drained("bad DIMM"), (), Condition("False", "DrainedByOthers", "bad DIMM")),
        (Seen("gpu01", "DOWN"), (), Condition("False", "DrainedByOthers", "Slurm's state is DOWN")),
        (drained("bad DIMM", comment=str(Report("", (GPU,)))), (), Condition("False", "DrainedByOthers", "bad DIMM")),
        (
            Seen("gpu01", "IDLE", comment=str(Report("", (GPU,)))),
            (Finding("cordon: by kubectl"),),
            Condition("False", "Found", f"{GPU}; cordon: by kubectl"),
        ),
        (
            Seen("gpu01", "IDLE", comment=str(Report("", (GPU,), "breaker site is open"))),
            (),
            Condition("False", "Kept", f"breaker site is open: {GPU}"),
        ),
        (
            Seen("gpu01", "IDLE", comment=str(Report("", (), "breaker site is open"))),
            (),
            Condition("False", "Healthy", "no findings"),
        ),
    ],
)
def test_the_condition_says_what_slurm_says(seen: Seen, others: tuple[Finding, ...], wanted: Condition) -> None:
    assert kube.condition(seen, others) == wanted


def test_a_message_has_a_limit() -> None:
    message = kube.condition(drained(reason([Finding("x" * 2000)]))).message
    assert (len(message), message[-4:]) == (1024, "x...")


WANT = Condition("True", "Drained", "drawbridge: health: a")
THERE = condition(
    *("DrawbridgeHealth", "True", "drawbridge: health: a"),
    reason="Drained",
    lastHeartbeatTime="2025-11-29T09:45:00Z",
    lastTransitionTime="2025-11-01T00:00:00Z",
)


def written(there: dict[str, Any] | None, want: Condition | None, now: float = NOW) -> Any:
    nodes = [kube.node(item("gpu01", *([there] if there else [])), ())]
    some = kube.patches(nodes, {"gpu01": want} if want else {}, now, 9)
    return [body["status"]["conditions"] for _name, body in some]


def test_a_condition_as_wanted_is_written_again_only_when_it_is_old() -> None:
    assert written(THERE, WANT) == written(None, None) == []
    assert written(THERE, WANT, NOW + 1800) == [[{**THERE, "lastHeartbeatTime": "2025-11-29T10:30:00Z"}]]
    # from the future: the clock was set back
    assert written({**THERE, "lastHeartbeatTime": "2025-11-29T10:00:01Z"}, WANT) != []


def test_its_time_of_transition_changes_with_its_status_alone() -> None:
    now = {"lastHeartbeatTime": "2025-11-29T10:00:00Z"}
    other = Condition("True", "NeedsRepair", "b")
    assert written(THERE, other) == [[{**THERE, "reason": "NeedsRepair", "message": "b", **now}]]
    well = Condition("False", "Healthy", "no findings")
    [[found]] = written(THERE, well)
    assert found == {
        **condition("DrawbridgeHealth", "False", "no findings"),
        "reason": "Healthy",
        **now,
        "lastTransitionTime": now["lastHeartbeatTime"],
    }
    [[found]] = written(None, well)
    assert found["lastTransitionTime"] == now["lastHeartbeatTime"]


def test_a_node_that_is_not_slurms_loses_the_condition() -> None:
    assert written(THERE, None) == [[{"$patch": "delete", "type": "DrawbridgeHealth"}]]


def test_changes_come_before_heartbeats_and_the_oldest_of_these_first() -> None:
    beats = {"old": "2025-11-29T08:00:00Z", "older": "2025-11-29T07:00:00Z", "young": "2025-11-29T09:59:00Z"}
    nodes = [kube.node(item(name, {**THERE, "lastHeartbeatTime": beat}), ()) for name, beat in beats.items()]
    nodes.append(kube.node(item("changed", {**THERE, "message": "b"}), ()))
    wanted = {it.name: WANT for it in nodes}
    assert [name for name, _body in kube.patches(nodes, wanted, NOW, 9)] == ["changed", "older", "old"]
    assert [name for name, _body in kube.patches(nodes, wanted, NOW, 2)] == ["changed", "older"]


def test_what_nodes_are_drained_for_is_known_without_the_api_server() -> None:
    some = [Finding("GpuXidError: XID 79"), GPU, Finding("cordon: by kubectl"), Finding("GpuMemWatch: x")]
    nodes = [drained(reason(some)), Seen("gpu02", "IDLE", reason=reason(some)), drained("GpuXidError: a person's")]
    assert kube.of_drains(nodes[:2], HEALTH) == {"gpu01": (some[0], some[2])}
    assert kube.of_drains(nodes[:1], Health(conditions=("GpuXidError",))) == {"gpu01": (some[0],)}
    assert kube.of_drains(nodes[2:], HEALTH) == {}


def test_the_last_look_is_read_back() -> None:
    last = Last(NOW, 6.5, {"gpu01": (GPU, Finding("cordon: by kubectl"))})
    assert Last.parse(last.text()) == last


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"found": [], "time": 1, "took_s": 1}', '{"found": {}, "time": [], "took_s": 1}']
)
def test_a_damaged_last_look_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"Expecting|not the last look"):
        Last.parse(text)


def test_a_look_rests_twenty_times_as_long_as_it_took() -> None:
    last = Last(NOW, 6.0, {})
    assert [last.due(NOW + after) for after in (0.0, 119.9, 120.0, -1.0)] == [False, False, True, True]
    assert Last().due(NOW)
