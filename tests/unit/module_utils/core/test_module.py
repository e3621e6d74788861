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
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.module import finish


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


class Left(Exception):
    """How the module left."""


class Module:
    check_mode = False

    def __init__(self, **params: Any) -> None:
        self.warnings: list[str] = []
        self.params = params

    def warn(self, warning: str) -> None:
        self.warnings.append(warning)

    def exit_json(self, **result: Any) -> None:
        raise Left("exit", result)

    def fail_json(self, **result: Any) -> None:
        raise Left("fail", result)


def plan(have: Word, want: Word) -> list[Step[Word]]:
    return [] if have == want else [Step(f"{have} -> {want}", lambda _: want, str(want))]


def leave(device: Device, module: Module | None = None, plan: Any = plan, **extra: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(Left) as caught:
        given: Any = module or Module()
        finish(given, device, plan, Word("new"), **extra)
    return caught.value.args[0], caught.value.args[1]


def test_success_carries_the_extras() -> None:
    how, result = leave(Device("old"), interface="rail0")
    assert how == "exit" and result["changed"] is True and result["interface"] == "rail0"


def test_a_lie_fails_with_done_left_and_diff() -> None:
    how, result = leave(Device("old", obeys=False))
    assert how == "fail" and result["left"] == ["old -> new"] and result["done"] == [] and "diff" in result


def test_half_a_change_is_a_failure() -> None:
    device = Device("old")
    device.apply = lambda steps: setattr(device, "word", Word("half"))
    how, result = leave(device)
    assert how == "fail" and result["changed"] is True and result["left"] == ["half -> new"]


def test_an_unreadable_device_fails_unchanged() -> None:
    how, result = leave(Device("mute"))
    assert how == "fail" and result == {"msg": "word does not answer", "changed": False, "rc": 7}


def test_what_waits_is_a_warning_that_names_the_host() -> None:
    """A task that only waits is ok, changes nothing, and shows nothing without -v."""
    module = Module()

    def busy(have: Word, want: Word) -> list[Step[Word]]:
        return [replace(step, pending="job 7 is here") for step in plan(have, want)]

    assert leave(Device("old"), module, busy)[1]["changed"] is False
    assert module.warnings == [f"{platform.node()}: to be done by a later run: old -> new: job 7 is here"]


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_without_consent_it_fails_before_anything_is_changed(check: bool) -> None:
    module, device = Module(may_write=False, variables={"may_write": "site_may_write"}), Device("old")
    module.check_mode = check

    def asking(have: Word, want: Word) -> list[Step[Word]]:
        consent = Consent("may_write", "ink stays; set")
        return [replace(step, consent=consent) for step in plan(have, want)]

    how, result = leave(device, module, asking)
    assert (how, result.get("msg"), result["changed"]) == ("fail", "ink stays; set site_may_write: true", False)
    assert result["diff"]["after"] == "new\n", "what the consent would be for is shown"
    assert (result["done"], result["left"], device.word) == ([], ["old -> new"], "old")
    module.params["may_write"] = True
    assert leave(device, module, asking)[0] == "exit"


def test_an_extra_may_be_made_of_the_steps() -> None:
    def count(steps: Sequence[Step[Word]]) -> dict[str, int]:
        return {"count": len(steps)}

    device = Device("old")
    assert leave(device, results_of=count)[1]["count"] == 1
    assert leave(device, results_of=count)[1]["count"] == 0
