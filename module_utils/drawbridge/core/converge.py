# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The engine of every module: read, plan, predict, apply, settle, read back.

A change is done when a new plan from the re-read state has no steps. Exit codes are no proof.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Callable, Generic, Protocol, TypeVar

from .consent import Consent
from .printable import all_printable, printable


class State(Protocol):
    """A device's actual or wanted state: comparable by value, printable in the tool's own vocabulary."""

    def lines(self) -> list[str]:
        """The state as the lines of a diff."""
        raise NotImplementedError


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Step(Generic[S]):
    """One change: its sentence, the state after it, and the payload for the adapter."""

    reason: str
    becomes: Callable[[S], S]
    payload: Any = None
    pending: str = ""
    """Why the step can't be done now, such as a reboot that it needs. It is reported, and is no failure."""
    disturbs: bool = False
    """It interrupts jobs on the node, so it is pending while the node is in use."""
    consent: Consent | None = None
    """Without this consent no step is done, and the run fails."""
    refused: str = ""
    """Why a person must act first. No step is done, and the run fails."""
    about: str = ""
    """What the step sets, if its sentence has the value that was found: after a failure that can be another one."""


class Device(Protocol[S]):
    """The adapter that does all I/O of a module."""

    @property
    def name(self) -> str:
        """The device's name in messages and diff headers."""
        raise NotImplementedError

    def read(self) -> S:
        """The part of the live state that Drawbridge owns. Raises DeviceError."""
        raise NotImplementedError

    def apply(self, steps: Sequence[Step[S]]) -> None:
        """Do the steps in order, as one transaction where the tool has one. Raises DeviceError."""


class DeviceError(Exception):
    """A tool failed, timed out or printed nonsense. The message is one sentence; details hold stdout, stderr, rc."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(printable(message))
        self.details = all_printable(details)


@dataclass(frozen=True)
class Settle:
    """How long and how often the read back waits until the change is in effect."""

    timeout_s: float = 0.0
    interval_s: float = 0.5


AT_ONCE = Settle()
"""For devices on which a change is in effect as soon as the command returns."""
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


def unused() -> str:
    """For callers whose steps interrupt no job."""
    return ""


@dataclass(frozen=True)
class Outcome:
    """The result of converge()."""

    changed: bool
    steps: list[str]
    diff: dict[str, str]
    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)
    error: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    planned: Sequence[Step[Any]] = ()
    """The steps behind `steps`; empty for a refusal."""
    refused: list[str] = field(default_factory=list)
    """Why steps must not be done, each reason with its repair."""

    def postponed(self, reason: str) -> Outcome:
        """The same prediction, if its steps must wait for a later run; an error stays."""
        waiting = [f"{step}: {reason}" for step in self.steps]
        same = {**self.diff, "after": self.diff["before"]}
        kept = replace(self, changed=False, steps=[], diff=same, pending=[*self.pending, *waiting], planned=())
        return self if self.error else kept

    def result(self) -> dict[str, Any]:
        """The result for exit_json or fail_json; a failure adds the steps that were done and those left.

        A success without a difference has no diff: it would hold the whole state.
        """
        result: dict[str, Any] = {"changed": self.changed, "steps": self.steps, "pending": self.pending}
        if self.error or self.diff["before"] != self.diff["after"]:
            result["diff"] = self.diff
        if self.error:
            result.update(msg=self.error, done=self.done, left=self.left, **self.details)
        if self.refused:
            result["refused"] = self.refused
        return dict(all_printable(result))


def converge(
    device: Device[S],
    plan: Callable[[S, S], list[Step[S]]],
    want: S,
    check: bool = False,
    settle: Settle = AT_ONCE,
    options: Mapping[str, Any] = NO_OPTIONS,
    in_use: Callable[[], str] = unused,
) -> Outcome:
    """Bring the device to the wanted state, or return which steps failed.

    `plan(have, want)` is pure. It makes the steps, and proves by an empty plan that they are done. `options` are the
    module's, some of which are consents. `in_use` returns who uses the node, "" for no one; it is called once, and only
    if a step disturbs. Check mode refuses and waits like a run, but applies the steps to the state that was read.
    Raises DeviceError only while nothing has been changed yet.
    """
    before = device.read()
    planned = plan(before, want)
    user = in_use() if any(step.disturbs and not step.pending for step in planned) else ""
    planned = _postponed(planned, user)
    now = [step for step in planned if not step.pending]
    pending = [f"{step.reason}: {step.pending}" for step in planned if step.pending]
    after = before
    for step in now:
        after = step.becomes(after)
    predicted = _diff(device.name, before, after)
    if refused := refusals(now, options):
        left, error = _reasons(now), "; ".join(refused)
        return Outcome(False, left, predicted, left=left, pending=pending, error=error, refused=refused)
    if check or not now:
        return Outcome(bool(now), _reasons(now), predicted, pending=pending, planned=now)
    error, details = _apply(device, now)
    return _read_back(device, plan, want, _Run(before, now, pending, error, details, user), settle)


def refusals(steps: Sequence[Step[Any]], options: Mapping[str, Any]) -> list[str]:
    """Why steps must not be done, each reason once and with its repair."""
    reasons = [step.refused or (step.consent.unless_given(options) if step.consent else "") for step in steps]
    return list(dict.fromkeys(filter(None, reasons)))


def _postponed(steps: Sequence[Step[S]], user: str) -> list[Step[S]]:
    """The same steps; those that disturb are pending if the node has a user."""
    return [replace(step, pending=step.pending or user) if step.disturbs else step for step in steps]


@dataclass(frozen=True)
class _Run(Generic[S]):
    """A finished apply, successful or not."""

    before: S
    steps: list[Step[S]]
    pending: list[str]
    error: str
    details: dict[str, Any]
    user: str


def _apply(device: Device[S], steps: Sequence[Step[S]]) -> tuple[str, dict[str, Any]]:
    try:
        device.apply(steps)
    except DeviceError as err:
        return str(err), err.details
    except Exception as err:  # the device may have changed all the same and must be read again
        return f"{device.name}: {type(err).__name__}: {err}", {}
    return "", {}


def _read_back(
    device: Device[S], plan: Callable[[S, S], list[Step[S]]], want: S, run: _Run[S], settle: Settle
) -> Outcome:
    steps = _reasons(run.steps)
    deadline = time.monotonic() + (0 if run.error else settle.timeout_s)
    while True:
        try:
            after = device.read()
        except DeviceError as err:
            message = f"{run.error or f'{device.name} was changed'}; reading it back failed too: {err}"
            diff = _diff(device.name, run.before, run.before)
            return Outcome(True, steps, diff, left=steps, pending=run.pending, error=message, details=err.details)
        still = _postponed(plan(after, want), run.user)
        left = [step.reason for step in still if not step.pending or step.reason in steps]
        if not left or time.monotonic() >= deadline:
            break
        time.sleep(settle.interval_s)
    error = run.error
    if left and not error:
        error = f"{device.name} reported success, but the change is not in effect: {left[0]}"
    return Outcome(
        changed=after != run.before if error else True,
        steps=steps,
        diff=_diff(device.name, run.before, after),
        done=[step.reason for step in run.steps if _about(step) not in set(map(_about, still))],
        left=left,
        pending=run.pending,
        error=error,
        details=run.details,
        planned=run.steps,
    )


def _about(step: Step[Any]) -> str:
    return step.about or step.reason


def _reasons(steps: Sequence[Step[S]]) -> list[str]:
    return [step.reason for step in steps]


def _diff(name: str, before: State, after: State) -> dict[str, str]:
    def text(state: State) -> str:
        return "".join(f"{line}\n" for line in state.lines())

    return {"before": text(before), "after": text(after), "before_header": name, "after_header": name}
