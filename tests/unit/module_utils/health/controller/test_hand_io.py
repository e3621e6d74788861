# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person does, at the emulated Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.hand_io import (
    close,
    forget,
    lift,
)

from tests.unit.module_utils.health.controlled import LINK, LOST, MOUNT, NAMES, ROWS, Controller

MANY = [*NAMES[:4], *NAMES[10:13]]
"""Too many for the site, and not for their units."""
ANSWERED = "drawbridge health: {kept: breaker site is open}"


def test_closing_says_what_the_next_look_does(controller: Controller) -> None:
    controller.report(MOUNT, *MANY)
    controller.tend(2)
    controller.report(ANSWERED, *MANY[2:])
    said = close(controller.place, [])
    assert said == [
        "breaker site is closed",
        "2 nodes will be drained at the next look:",
        "  n[01-02]: drawbridge: health: /fs1 is not mounted",
    ]
    calls = controller.tend()
    assert "update nodename=n[03-20] comment=" in calls
    assert "update nodename=n[01-02] state=drain reason=drawbridge: health: /fs1 is not mounted" in calls
    assert controller.tend() == []
    assert ("", "closed", "site: by a person") in controller.history()
    assert close(controller.place, []) == ["no breaker is open"]


def test_a_breaker_that_would_open_again_says_so(controller: Controller) -> None:
    controller.report(MOUNT, *MANY)
    controller.tend()
    said = close(controller.place, ["site"])
    assert said[1].startswith("breaker site opens again at the next look: findings would keep 7 of 20 nodes drained")
    assert said[2:] == ["0 nodes will be drained at the next look"]
    controller.tend()
    assert "site" in controller.memory()["opened"]


def test_a_site_that_leaves_keeps_its_own_texts(controller: Controller) -> None:
    controller.report(MOUNT, "n01")
    controller.tend(2)
    controller.report(f"RMA=1 {MOUNT}", "n02")
    assert forget(controller.place) == ["the records of 2 nodes have no findings any more"]
    assert [controller.node(name)["comment"] for name in ("n01", "n02")] == ["", "RMA=1"]
    assert "DRAIN" in str(controller.node("n01"))
    assert forget(controller.place) == ["the records of 0 nodes have no findings any more"]


def test_only_open_breakers_are_closed(controller: Controller) -> None:
    controller.report(MOUNT, *MANY)
    controller.tend()
    with pytest.raises(ValueError, match=r"breaker leaf9 is not open; open are: site"):
        close(controller.place, ["site", "leaf9"])
    assert "site" in controller.memory()["opened"]


@pytest.mark.parametrize(("comment", "state"), [(ROWS, "IDLE"), (LINK, "IDLE"), (ROWS, "DOWN")])
def test_a_repaired_node_takes_jobs_again(comment: str, state: str, controller: Controller) -> None:
    controller.report(f"RMA=1 {comment}", "n01")
    controller.tend(2)
    controller.node("n01")["state"] = state
    assert lift(controller.place, "n01") == [
        "n01 takes jobs again; its next health check reports again, if it still has a finding"
    ]
    node = controller.node("n01")
    assert (node["state"], node["flags"], node["comment"]) == ("IDLE", [], "RMA=1")
    assert controller.tend(2) == []
    text = comment.partition("health: ")[2]
    # the end is in the history once
    assert controller.history()[2:] == [("n01", "gone", text), ("n01", "lifted", f"by a person: {text}")]
    controller.report(comment, "n01")
    assert len(controller.tend()) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"flags": [], "reason": ""}, "findings do not keep n01 drained$"),
        ({"reason": "fan"}, "findings do not keep n01 drained; its reason is: fan"),
        ({"reason": "drawbridge: proof: slow"}, "its reason is: drawbridge: proof: slow"),
        ({"reservation": "drawbridge-proof"}, "a proof of n01 runs, and ends its drain"),
        (
            {"reason": "drawbridge: health: 60-passport: none"},
            "asks for a passport; a proof lifts the drain: prove n01",
        ),
    ],
)
def test_lift_leaves_other_drains_alone(changes: dict[str, object], why: str, controller: Controller) -> None:
    controller.report(ROWS, "n01")
    controller.tend(2)
    controller.node("n01").update(changes)
    before = dict(controller.node("n01"))
    with pytest.raises(ValueError, match=why):
        lift(controller.place, "n01")
    assert controller.node("n01") == before


@pytest.mark.parametrize(("comment", "refused"), [(ROWS, True), (LOST, True), (MOUNT, False)])
def test_a_class_with_passports_returns_by_a_proof(
    comment: str, refused: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin")
    controller = Controller(tmp_path, proofs="n[01-02]")
    controller.report(comment, "n01")
    controller.tend(2)
    if not refused:
        assert lift(controller.place, "n01")
        return
    with pytest.raises(ValueError, match=r"asks for a passport; a proof lifts the drain: prove n01"):
        lift(controller.place, "n01")
    assert controller.node("n01")["flags"] == ["DRAIN"]


def test_an_unknown_node_is_said(controller: Controller) -> None:
    with controller.place.store.locked(), pytest.raises(ValueError, match="does not have n99"):
        lift(controller.place, "n99")


def test_slurm_that_lies_lifts_nothing(controller: Controller) -> None:
    controller.report(ROWS, "n01")
    controller.tend(2)
    controller.slurm.faults["lie"] = ["update"]
    with pytest.raises(DeviceError, match="accepted the end of the drain of n01, but it is not in effect"):
        lift(controller.place, "n01")
    assert "lifted" not in {what for _node, what, _text in controller.history()}
