# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.consent import Consent
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError, Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import (
    Layer,
    Unknown,
    Work,
    run,
)


class Word(str):
    """A state that is one word."""

    def lines(self) -> list[str]:
        return [str(self)]


class Device:
    name = "word"

    def __init__(self, word: str, obeys: bool = True) -> None:
        self.word, self.obeys = Word(word), obeys

    def read(self) -> Word:
        if self.word == "mute":
            raise DeviceError("word does not answer", rc=7)
        return self.word

    def apply(self, steps: Any) -> None:
        if self.obeys:
            self.word = Word(steps[0].payload)


def plan(have: Word, want: Word) -> list[Step[Word]]:
    return [] if have == want else [Step(f"{have} -> {want}", lambda _: want, str(want))]


def result(device: Any, plan: Any = plan, check: bool = False, params: Any = None, **more: Any) -> dict[str, Any]:
    layer = Layer({}, lambda params, check: Work(device, plan, Word("new"), **more))
    return run(layer, params or {}, check)


def test_success_carries_results_of_the_steps() -> None:
    def count(steps: Sequence[Step[Word]]) -> dict[str, int]:
        return {"count": len(steps)}

    device = Device("old")
    done = result(device, results_of=count)
    assert (done["changed"], done["count"], "failed" in done) == (True, 1, False)
    assert result(device, results_of=count)["count"] == 0


def test_half_a_change_is_a_failure() -> None:
    device = Device("old")
    device.apply = lambda steps: setattr(device, "word", Word("half"))
    half = result(device)
    assert half.get("failed") and half["changed"] is True and half["left"] == ["half -> new"]


def test_what_waits_is_a_warning_that_names_the_host() -> None:
    """A task that only waits is ok, changes nothing, and shows nothing without -v."""

    def busy(have: Word, want: Word) -> list[Step[Word]]:
        return [replace(step, pending="job 7 is here") for step in plan(have, want)]

    waits = result(Device("old"), busy)
    assert waits["changed"] is False
    assert waits["warnings"] == [f"{platform.node()}: to be done by a later run: old -> new: job 7 is here"]


def test_a_layers_own_warnings_name_the_host_and_are_no_failure() -> None:
    done = result(Device("new"), results_of=lambda _: {"warnings": ["its tool is old"]})
    assert (done["warnings"], done["pending"], "failed" in done) == ([f"{platform.node()}: its tool is old"], [], False)


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_without_consent_it_fails_before_anything_is_changed(check: bool) -> None:
    device = Device("old")
    params = {"may_write": False, "variables": {"may_write": "site_may_write"}}

    def asking(have: Word, want: Word) -> list[Step[Word]]:
        consent = Consent("may_write", "ink stays; set")
        return [replace(step, consent=consent) for step in plan(have, want)]

    refused = result(device, asking, check, params)
    assert (refused.get("failed"), refused.get("msg"), refused["changed"]) == (
        True,
        "ink stays; set site_may_write: true",
        False,
    )
    assert refused["diff"]["after"] == "new\n", "what the consent would be for is shown"
    assert (refused["done"], refused["left"], device.word) == ([], ["old -> new"], "old")
    assert "failed" not in result(device, asking, check, {"may_write": True})


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_an_unknown_state_is_pending_in_check_mode_and_a_failure_otherwise(check: bool) -> None:
    def work(params: Any, check: bool) -> Work[Word]:
        raise Unknown("x.service is not installed yet", key="")

    found = run(Layer({}, work), {}, check)
    assert (found["changed"], found.get("failed", False)) == (False, not check)
    told = found["pending"] if check else [found["msg"]]
    assert told[0].startswith("x.service is not installed yet")
    assert found.get("warnings", []) == (told if check else [])
    assert found.get("key") == ("" if check else None)
