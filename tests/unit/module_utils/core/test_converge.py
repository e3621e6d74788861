# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Settle,
    Step,
    converge,
)


@dataclass(frozen=True)
class Lamp:
    """A device's state that is small enough to see through."""

    power: str = "off"
    colour: str = "white"
    locked: bool = False

    def lines(self) -> list[str]:
        return [f"power {self.power}", f"colour {self.colour}"]


def plan(have: Lamp, want: Lamp) -> list[Step[Lamp]]:
    steps = []
    if have.power != want.power:
        pending = "the lamp is locked" if have.locked else ""
        reason = f"power {have.power} -> {want.power}"
        steps.append(Step(reason, lambda lamp: replace(lamp, power=want.power), ("power", want.power), pending))
    if have.colour != want.colour:
        reason = f"colour {have.colour} -> {want.colour}"
        steps.append(Step(reason, lambda lamp: replace(lamp, colour=want.colour), ("colour", want.colour)))
    return steps


@dataclass
class Device:
    """A lamp on a wire; `obey` decides what becomes of a step."""

    lamp: Lamp = field(default_factory=Lamp)
    obey: Callable[[Device, Step[Lamp]], None] | None = None
    name: str = "lamp"
    reads: int = 0
    applied: list[str] = field(default_factory=list)
    later: list[Lamp] = field(default_factory=list)

    def read(self) -> Lamp:
        self.reads += 1
        if self.applied and self.later:
            self.lamp = self.later.pop(0)
        return self.lamp

    def apply(self, steps: Sequence[Step[Lamp]]) -> None:
        for step in steps:
            self.applied.append(step.reason)
            if self.obey:
                self.obey(self, step)
            else:
                self.lamp = step.becomes(self.lamp)


WANT = Lamp("on", "red")


def test_makes_the_change_and_reads_back() -> None:
    device = Device()
    outcome = converge(device, plan, WANT)
    assert device.lamp == WANT and device.reads == 2
    assert (outcome.changed, outcome.error) == (True, "")
    assert outcome.steps == ["power off -> on", "colour white -> red"]
    assert outcome.diff == {
        "before": "power off\ncolour white\n",
        "after": "power on\ncolour red\n",
        "before_header": "lamp",
        "after_header": "lamp",
    }


def test_second_run_only_reads() -> None:
    device = Device(WANT)
    outcome = converge(device, plan, WANT)
    assert (device.reads, device.applied, outcome.changed, outcome.steps) == (1, [], False, [])


def test_check_mode_predicts_exactly_what_the_run_reports() -> None:
    device = Device()
    predicted = converge(device, plan, WANT, check=True)
    assert device.applied == [] and device.lamp == Lamp()
    done = converge(device, plan, WANT)
    assert (predicted.steps, predicted.diff, predicted.changed) == (done.steps, done.diff, done.changed)


def test_check_mode_predicts_a_partial_wish_from_the_state_that_it_read() -> None:
    """The wish says nothing of `locked`: the prediction keeps what the device has."""
    outcome = converge(Device(Lamp("off", "blue")), plan, Lamp("on", "blue"), check=True)
    assert outcome.diff["after"] == "power on\ncolour blue\n"


def lie(device: Device, step: Step[Lamp]) -> None:
    """Exit 0, nothing done."""


def refuse_colour(device: Device, step: Step[Lamp]) -> None:
    if step.payload[0] == "colour":
        raise DeviceError("lamp says: no such colour", rc=1, stderr="no such colour")
    device.lamp = step.becomes(device.lamp)


def die(device: Device, step: Step[Lamp]) -> None:
    raise RuntimeError("the wire broke")


def test_a_lie_is_a_failure() -> None:
    outcome = converge(Device(obey=lie), plan, WANT)
    assert outcome.error == "lamp reported success, but the change is not in effect: power off -> on"
    assert outcome.changed is False and outcome.left == ["power off -> on", "colour white -> red"]


def test_a_refusal_half_way_lists_steps_done_and_steps_left() -> None:
    result = converge(Device(obey=refuse_colour), plan, WANT).result()
    assert result["msg"] == "lamp says: no such colour"
    assert (result["done"], result["left"], result["changed"]) == (["power off -> on"], ["colour white -> red"], True)
    assert result["rc"] == 1 and "power on" in result["diff"]["after"]


def test_a_broken_adapter_still_reports() -> None:
    outcome = converge(Device(obey=die), plan, WANT)
    assert outcome.error == "lamp: RuntimeError: the wire broke"
    assert outcome.changed is False and outcome.left == outcome.steps


def test_an_unreadable_device_after_a_change_counts_as_changed() -> None:
    class Mute(Device):
        def read(self) -> Lamp:
            if self.applied:
                raise DeviceError("lamp does not answer")
            return super().read()

    outcome = converge(Mute(), plan, WANT)
    assert outcome.changed is True and outcome.left == outcome.steps
    assert outcome.error == "lamp was changed; reading it back failed too: lamp does not answer"


def test_settling_waits_for_a_slow_device() -> None:
    device = Device(obey=lie, later=[Lamp(), Lamp("on", "white"), WANT])
    outcome = converge(device, plan, WANT, settle=Settle(timeout_s=120, interval_s=0.001))
    assert outcome.error == "" and device.reads == 4


def test_settling_is_bounded() -> None:
    outcome = converge(Device(obey=lie), plan, WANT, settle=Settle(timeout_s=0.02, interval_s=0.001))
    assert outcome.error.startswith("lamp reported success")


def test_what_cannot_finish_now_is_pending_and_leaves_the_second_run_unchanged() -> None:
    device = Device(Lamp(locked=True))
    first = converge(device, plan, WANT)
    assert first.steps == ["colour white -> red"] and first.error == ""
    assert first.pending == ["power off -> on: the lamp is locked"]
    second = converge(device, plan, WANT)
    assert (second.changed, second.steps, second.pending) == (False, [], first.pending)


def disturbing(have: Lamp, want: Lamp) -> list[Step[Lamp]]:
    """Switching it off or on is felt; another colour is not."""
    return [replace(step, disturbs=step.payload[0] == "power") for step in plan(have, want)]


class Users:
    """Who uses the lamp, and how often `converge` reads that."""

    def __init__(self, user: str = "") -> None:
        self.user, self.asked = user, 0

    def __call__(self) -> str:
        self.asked += 1
        return self.user


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_steps_that_disturb_wait_while_the_node_is_in_use(check: bool) -> None:
    users, device = Users("job 7 reads"), Device()
    outcome = converge(device, disturbing, WANT, check, in_use=users)
    assert (outcome.error, outcome.steps) == ("", ["colour white -> red"])
    assert outcome.pending == ["power off -> on: job 7 reads"]
    assert users.asked == 1
    assert device.lamp == Lamp("off", "white" if check else "red")


@pytest.mark.parametrize("lamp", [WANT, Lamp("on", "white"), Lamp("off", "red", locked=True)])
def test_users_of_the_node_are_read_only_for_a_step_that_would_disturb_now(lamp: Lamp) -> None:
    users = Users("job 7 reads")
    converge(Device(lamp), disturbing, WANT, in_use=users)
    assert users.asked == 0


def test_a_step_that_was_done_and_has_to_wait_now_is_left() -> None:
    """Its tool said that it did it; that it can't be done any more makes it no success."""
    device = Device(later=[Lamp("off", "red", locked=True)])
    outcome = converge(device, plan, WANT)
    assert outcome.error == "lamp reported success, but the change is not in effect: power off -> on"


@pytest.mark.parametrize("check", [True, False], ids=["check", "run"])
def test_a_refused_step_stops_all_steps(check: bool) -> None:
    def guarded(have: Lamp, want: Lamp) -> list[Step[Lamp]]:
        return [replace(step, refused="the lamp is another tenant's") for step in plan(have, want)]

    device = Device()
    outcome = converge(device, guarded, WANT, check)
    assert (outcome.error, outcome.changed, outcome.left) == ("the lamp is another tenant's", False, outcome.steps)
    assert device.applied == []
    assert converge(Device(WANT), guarded, WANT).error == ""
