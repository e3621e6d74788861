# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.control import (
    AFTER_A_LIFT,
    LONGEST_LIST,
    calls,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import (
    DRAIN,
    KEEP,
    LIFT,
    REASON_ONLY,
    REBOOT_NODE,
    RESUME,
    UNKEEP,
    Act,
    Seen,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import REASON

WHY = f"{REASON}a: b"


def made(acts: list[Act], **nodes: Seen) -> list[str]:
    known = {act.node: nodes.get(act.node, Seen(act.node, "IDLE")) for act in acts}
    return [" ".join(call.argv) for call in calls(acts, known)]


def test_each_change_as_scontrol_has_it() -> None:
    down, drained = Seen("n1", "DOWN"), Seen("n1", "DOWN", frozenset({"DRAIN"}))
    commented = Seen("n1", "IDLE", comment="RMA=1 drawbridge health: a: b {kept: x}")
    assert made([Act(DRAIN, "n1", WHY)]) == [f"scontrol update nodename=n1 state=drain reason={WHY}"]
    assert made([Act(REASON_ONLY, "n1", WHY)]) == [f"scontrol update nodename=n1 reason={WHY}"]
    assert made([Act(REASON_ONLY, "n1", WHY)], n1=down) == [f"scontrol update nodename=n1 state=drain reason={WHY}"]
    assert made([Act(REASON_ONLY, "n1", WHY)], n1=drained) == [f"scontrol update nodename=n1 reason={WHY}"]
    assert made([Act(LIFT, "n1")]) == [f"scontrol update nodename=n1 state=undrain reason={AFTER_A_LIFT}"]
    assert made([Act(RESUME, "n1")]) == [f"scontrol update nodename=n1 state=resume reason={AFTER_A_LIFT}"]
    assert made([Act(REBOOT_NODE, "n1", WHY)]) == [f"scontrol reboot ASAP nextstate=DOWN reason={WHY} n1"]
    assert made([Act(KEEP, "n1", "y")]) == ["scontrol update nodename=n1 comment=drawbridge health: {kept: y}"]
    assert made([Act(KEEP, "n1", "y")], n1=commented) == [
        "scontrol update nodename=n1 comment=RMA=1 drawbridge health: a: b {kept: y}"
    ]
    assert made([Act(UNKEEP, "n1")], n1=commented) == [
        "scontrol update nodename=n1 comment=RMA=1 drawbridge health: a: b"
    ]
    assert made([Act(UNKEEP, "n1")], n1=Seen("n1", "IDLE", comment="drawbridge health: {kept: x}")) == [
        "scontrol update nodename=n1 comment="
    ]


def test_the_reason_after_a_lift_is_not_one_of_findings_or_of_another_layer() -> None:
    assert not AFTER_A_LIFT.startswith("drawbridge")
    assert AFTER_A_LIFT.strip('"') == AFTER_A_LIFT, "scontrol removes quotes at both ends"


def test_nodes_with_the_same_words_share_a_call() -> None:
    acts = [Act(DRAIN, f"n{at}", WHY) for at in (2, 3, 1)] + [Act(DRAIN, "n9", f"{REASON}c")] + [Act(LIFT, "n4")]
    assert [call.names for call in calls(acts, {act.node: Seen(act.node, "IDLE") for act in acts})] == [
        "n[1-3]",
        "n9",
        "n4",
    ]


def test_answers_are_first_and_reboots_late() -> None:
    kinds = [UNKEEP, REBOOT_NODE, LIFT, RESUME, REASON_ONLY, DRAIN, KEEP]
    acts = [Act(kind, f"n{at}", "x") for at, kind in enumerate(kinds)]
    found = [call.kind for call in calls(acts, {act.node: Seen(act.node, "IDLE") for act in acts})]
    assert found == [KEEP, DRAIN, REASON_ONLY, RESUME, LIFT, REBOOT_NODE, UNKEEP]


def test_a_hostlist_fits_into_an_argument() -> None:
    names = [f"rack{at:x}-{'node' * 8}-{at:x}a" for at in range(3000)]
    acts = [Act(DRAIN, name, WHY) for name in names]
    made = calls(acts, {name: Seen(name, "IDLE") for name in names})
    assert len(made) > 1 and max(len(call.argv[2]) for call in made) <= LONGEST_LIST + len("nodename=")
    assert sorted(name for call in made for name in hostlist.expand(call.names)) == sorted(names)


def test_ten_thousand_nodes_in_order_are_one_short_call() -> None:
    names = [f"gpu{at:05d}" for at in range(10_000)]
    [call] = calls([Act(KEEP, name, "x") for name in names], {name: Seen(name, "IDLE") for name in names})
    assert call.names == "gpu[00000-09999]"
    assert str(call) == "answer of gpu[00000-09999]: x"
