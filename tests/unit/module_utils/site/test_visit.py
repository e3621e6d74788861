# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError, Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import Layer, Work
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import visit as module
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.layers import PLACED
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.placed_layer import PLACED_FILES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit import Call, visit


class Switch(str):
    """A state: on or off."""

    def lines(self) -> list[str]:
        return [str(self)]


class Device:
    def __init__(self, state: dict[str, str], name: str) -> None:
        self.name, self._state = name, state

    def read(self) -> Switch:
        if self._state[self.name] == "broken":
            raise DeviceError(f"{self.name} is broken", rc=3)
        if self._state[self.name] == "mad":
            raise KeyError("nobody thought of this")
        return Switch(self._state[self.name])

    def apply(self, steps: Any) -> None:
        self._state[self.name] = "on"


def plan(have: Switch, want: Switch) -> list[Step[Switch]]:
    return [] if have == want else [Step(f"turn {want}", lambda _: want)]


@pytest.fixture
def lamps(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Lamps a, b and c by state; each is a layer with its name."""
    state = dict.fromkeys("abc", "off")

    def layer(name: str) -> Layer:
        return Layer({"level": {"type": "int"}}, lambda params, check: Work(Device(state, name), plan, Switch("on")))

    monkeypatch.setattr(module, "LAYERS", {name: layer(name) for name in state})
    return state


def states(calls: list[Call], check: bool = False) -> list[str]:
    return [seen.state for seen in visit(calls, check)]


POSTPONED = Call("a", {}, postponed="leaf1 is pending")


@pytest.mark.parametrize("check", [False, True])
def test_steps_of_a_held_layer_are_pending_and_others_go_on(lamps: dict[str, str], check: bool) -> None:
    waiting, after = visit([POSTPONED, Call("b", {}, needs=[0])], check)
    assert (waiting.state, waiting.result["changed"], waiting.result["steps"]) == ("done", False, [])
    assert waiting.result["pending"] == ["turn on: leaf1 is pending"]
    assert waiting.result["warnings"][0].endswith("to be done by a later run: turn on: leaf1 is pending")
    assert "diff" not in waiting.result
    assert after.result["changed"]
    assert lamps["a"] == "off"


def test_a_held_layer_that_has_nothing_to_do_or_fails_says_so(lamps: dict[str, str]) -> None:
    lamps["a"] = "on"
    assert visit([POSTPONED], check=False)[0].result["pending"] == []
    lamps["a"] = "broken"
    assert visit([POSTPONED], check=False)[0].state == "failed"


A, B, C = Call("a", {}), Call("b", {}, needs=[0]), Call("c", {}, needs=[1])


def test_check_mode_touches_nothing(lamps: dict[str, str]) -> None:
    assert states([A, B], check=True) == ["done", "done"]
    assert set(lamps.values()) == {"off"}


@pytest.mark.parametrize("trouble", ["broken", "mad"])
def test_a_failure_stops_what_needs_it_and_nothing_else(lamps: dict[str, str], trouble: str) -> None:
    lamps["a"] = trouble
    assert states([A, Call("b", {}), Call("c", {}, needs=[0, 1])]) == ["failed", "done", "stopped"]
    assert lamps["c"] == "off"
    assert states([A, B, C]) == ["failed", "stopped", "stopped"]


def test_options_are_checked_as_the_module_checks_them(lamps: dict[str, str]) -> None:
    [seen] = visit([Call("a", {"level": "high"})], check=False)
    assert (seen.state, seen.result["changed"]) == ("failed", False)
    assert "'level' is of type" in seen.result["msg"]


def test_what_needs_the_controller_waits_and_so_does_what_needs_it(lamps: dict[str, str]) -> None:
    asks = Call("a", {}, predict=True)
    seen = visit([asks, B, Call("c", {})], check=False)
    assert [it.state for it in seen] == ["waits", "waits", "done"]
    assert seen[0].result["steps"] == ["turn on"] and seen[1].result == {}
    assert lamps == {"a": "off", "b": "off", "c": "on"}
    assert states([asks, B], check=True) == ["done", "done"], "a prediction needs nobody"


def test_with_nothing_to_do_the_controller_is_not_needed(lamps: dict[str, str]) -> None:
    lamps["a"] = "on"
    assert states([Call("a", {}, predict=True), B]) == ["done", "done"]


def test_one_visit_finds_all_that_the_controller_must_do(lamps: dict[str, str]) -> None:
    """Also what waits for another layer anyway; but what can't be predicted yet is no failure."""
    asks = [Call("a", {}, predict=True), Call("b", {}, needs=[0], predict=True)]
    assert [bool(it.result) for it in visit(asks, check=False)] == [True, True]
    lamps["b"] = "broken"
    assert [(it.state, bool(it.result)) for it in visit(asks, check=False)] == [("waits", True), ("waits", False)]


class TestLeaving:
    """Layers of roles that the intent has no more, and the last layer."""

    @pytest.fixture
    def place(self, lamps: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The record of a host where role `old` placed a file, which the lamps' layers do not."""
        (tmp_path / "drawbridge").write_text("x")
        place = tmp_path / "placed.json"
        place.write_text(json.dumps({"old": [["file", str(tmp_path / "drawbridge")]]}))
        monkeypatch.setattr(module, "LAYERS", {**module.LAYERS, PLACED: PLACED_FILES})
        return place

    def last(self, place: Path, *needs: int, **more: Any) -> Call:
        return Call(PLACED, {"gone": ["old"], "busy_lock": "/nonexistent", "record": str(place), **more}, needs)

    def test_a_role_leaves_only_where_it_has_been(self, place: Path, lamps: dict[str, str]) -> None:
        leaving = [Call("a", {}, leaves="old"), Call("b", {}, leaves="other")]
        been, never, _last = visit([*leaving, self.last(place, 0, 1)], check=False)
        assert (been.result["changed"], never.result) == (True, {"changed": False})
        assert (lamps["a"], lamps["b"]) == ("on", "off")

    def test_its_files_go_when_it_has_left(self, place: Path) -> None:
        _left, last = visit([Call("a", {}, leaves="old"), self.last(place, 0)], check=False)
        assert last.result["steps"] == [f"remove {place.parent}/drawbridge"]
        assert not (place.parent / "drawbridge").exists()

    @pytest.mark.parametrize(
        ("first", "state"),
        [
            (Call("a", {}, leaves="old", postponed="a job runs"), "done"),
            (Call("a", {}, leaves="old", predict=True), "waits"),
        ],
    )
    def test_its_files_stay_while_it_has_not_left(self, place: Path, first: Call, state: str) -> None:
        _left, last = visit([first, self.last(place, 0)], check=False)
        assert (last.state, last.result.get("changed", False)) == (state, False)
        assert (place.parent / "drawbridge").exists()
        if state == "done":
            assert last.result["pending"] == [f"remove {place.parent}/drawbridge: first turn on: a job runs"]

    def test_check_mode_notes_nothing(self, place: Path) -> None:
        before = place.read_text()
        last = self.last(place, placed={"new": [["file", "/etc/drawbridge/x"]]})
        assert visit([last], check=True)[0].result["changed"]
        assert place.read_text() == before
        visit([last], check=False)
        assert json.loads(place.read_text()) == {"new": [["file", "/etc/drawbridge/x"]]}

    def test_a_record_that_is_none_stops_what_depends_on_it(self, place: Path, lamps: dict[str, str]) -> None:
        place.write_text("{")
        leaving, other, last = visit([Call("a", {}, leaves="old"), Call("b", {}), self.last(place)], check=False)
        assert [leaving.state, other.state, last.state] == ["failed", "done", "failed"]
        assert "placed.json is no record" in last.result["msg"]
        assert (lamps["a"], lamps["b"]) == ("off", "on")
