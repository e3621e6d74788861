# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.converge import DeviceError, Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.module import finish


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

    def exit_json(self, **result: Any) -> None:
        raise Left("exit", result)

    def fail_json(self, **result: Any) -> None:
        raise Left("fail", result)


def plan(have: Word, want: Word) -> list[Step[Word]]:
    return [] if have == want else [Step(f"{have} -> {want}", lambda _: want, str(want))]


def leave(device: Device, **extra: Any) -> tuple[str, dict[str, Any]]:
    with pytest.raises(Left) as caught:
        finish(Module(), device, plan, Word("new"), **extra)  # type: ignore[arg-type]  # the two methods are enough
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
