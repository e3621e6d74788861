# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The order of calls, and where they end. Looks of a whole controller are in test_tend_io."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.control import (
    Call,
    calls,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.control_io import (
    act,
    look,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import DRAIN, Act, Seen


class Answers:
    """Calls that were made; `errors` by the name of the node."""

    def __init__(self, **errors: DeviceError) -> None:
        self.errors, self.made = errors, list[str]()

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        name = argv[2].partition("=")[2]
        self.made.append(name)
        if name in self.errors:
            raise self.errors[name]
        return Completed(0, "text", "")


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scontrol").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def drains(count: int) -> list[Call]:
    acts = [Act(DRAIN, f"n{at}", f"why {at}") for at in range(count)]
    return calls(acts, {it.node: Seen(it.node, "IDLE") for it in acts})


def names(acts: Sequence[Act]) -> list[str]:
    return [it.node for it in acts]


def test_a_look_is_one_call() -> None:
    run = Answers()
    assert look(run) == "text"
    assert len(run.made) == 1


def test_the_number_of_calls_is_limited() -> None:
    run = Answers()
    found = act(drains(5), run, most=3)
    assert (run.made, names(found.accepted)) == (["n0", "n1", "n2"], ["n0", "n1", "n2"])
    assert (names(found.refused), found.left, found.complaints) == (["n3", "n4"], 2, ())


def test_an_old_look_makes_no_change() -> None:
    run = Answers()
    found = act(drains(2), run, most_s=0)
    assert (run.made, names(found.refused), found.left) == ([], ["n0", "n1"], 2)


def test_a_refusal_stops_no_other_call() -> None:
    run = Answers(n1=DeviceError("scontrol failed: no", rc=1))
    found = act(drains(3), run)
    assert (names(found.accepted), names(found.refused), found.left) == (["n0", "n2"], ["n1"], 0)
    assert found.complaints == ("scontrol failed: no; this was the drain of n1: why 1",)


def test_a_call_without_an_answer_is_the_last_and_may_be_done() -> None:
    run = Answers(n1=DeviceError("scontrol gave no answer within 20 s and was killed", stdout=""))
    found = act(drains(3), run)
    assert run.made == ["n0", "n1"]
    assert (names(found.accepted), names(found.refused), found.left) == (["n0"], ["n2"], 1)
