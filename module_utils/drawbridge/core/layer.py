# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A layer: the options of a module, and the arguments of converge() that follow from them.

A module runs one layer. The visit of a node runs many of them in one process.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Callable, Generic

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from .converge import AT_ONCE, Device, DeviceError, S, Settle, Step, converge, unused
from .placed.text import Item
from .printable import all_printable

Params = Mapping[str, Any]
VIEW = "view"
"""The option that holds other options of its module as one mapping."""


class Unknown(Exception):
    """Packages or daemons are missing, so that check mode can predict nothing. In a run it is an error.

    `extra` are results that a prediction returns all the same.
    """

    def __init__(self, reason: str, **extra: Any) -> None:
        super().__init__(reason)
        self.extra = extra


@dataclass(frozen=True)
class Work(Generic[S]):
    """The arguments of converge()."""

    device: Device[S]
    plan: Callable[[S, S], list[Step[S]]]
    want: S
    settle: Settle = AT_ONCE
    in_use: Callable[[], str] = unused
    results_of: Callable[[Sequence[Step[S]]], Mapping[str, Any]] = lambda _: {}
    """Further results of a success, from its steps. A layer that did less than it planned corrects `steps` and
    `changed`, and returns what else is `pending`. What a person must do on the host is in `warnings`."""
    error_of: Callable[[str], str] = str
    """The layer's error from the engine's; a layer that also compares may add one."""
    shown: Callable[[], str] = str
    """A text that the diff shows as it is; it is called after the work."""


def nothing(params: Params) -> Sequence[Item]:
    """For layers that leave no files of Drawbridge on a host."""
    return ()


@dataclass(frozen=True)
class Layer:
    """A module's options as in an argument spec, and its work.

    `work(params, check)` reads no more than it needs to say what to do. It may raise DeviceError and Unknown.
    """

    spec: Mapping[str, Any]
    work: Callable[[Params, bool], Work[Any]]
    exclusive: Sequence[Sequence[str]] = ()
    """Groups of options of which only one may be given."""
    viewed: Sequence[str] = ()
    """Options that the option VIEW may hold: a role passes what follows from the intent as one value."""
    places: Callable[[Params], Sequence[Item]] = nothing
    """What it places on a host with these options, for the record. A later run removes items that it lists no more."""


def records(required: bool = True, **options: Mapping[str, Any]) -> dict[str, Any]:
    """An option with a list of mappings, which have these options. Unless it is required, it is empty by default."""
    given = {"required": True} if required else {"default": []}
    return {"type": "list", "elements": "dict", **given, "options": options}


def open_spec(spec: Mapping[str, Any], viewed: Sequence[str]) -> dict[str, Any]:
    """The argument spec of a module whose option VIEW may hold these options."""
    if not viewed:
        return dict(spec)
    optional = {name: {key: value for key, value in spec[name].items() if key != "required"} for name in viewed}
    return {**spec, **optional, VIEW: {"type": "dict", "default": {}}}


def opened(params: Params) -> dict[str, Any]:
    """The options with those of VIEW among them. These win, because a module fills in defaults for all others."""
    if VIEW not in params:
        return dict(params)
    given = {name: value for name, value in params.items() if name != VIEW and value is not None}
    return {**given, **(params[VIEW] or {})}


def validated(spec: Mapping[str, Any], params: Params, exclusive: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """The options with types and defaults. Raises DeviceError with all that is wrong."""
    found = ArgumentSpecValidator(dict(spec), mutually_exclusive=list(exclusive)).validate(dict(params))
    if found.error_messages:
        raise DeviceError("; ".join(found.error_messages))
    return found.validated_parameters


def run(layer: Layer, params: Params, check: bool, postponed: str = "") -> dict[str, Any]:
    """Do the work and return the module's result, with `failed` after an error, and its `warnings`.

    `postponed` is why all steps must wait for a later run: they are predicted, and pending.
    """
    return dict(all_printable(_run(layer, params, check, postponed)))


def _run(layer: Layer, params: Params, check: bool, postponed: str) -> dict[str, Any]:
    check = check or bool(postponed)
    try:
        work = layer.work(params, check)
        outcome = converge(work.device, work.plan, work.want, check, work.settle, params, work.in_use)
    except Unknown as err:
        return _unpredicted(str(err), err.extra, check)
    except DeviceError as err:
        return {"failed": True, "changed": False, "msg": str(err), **err.details}
    outcome = replace(outcome, error=work.error_of(outcome.error))
    if postponed:
        outcome = outcome.postponed(postponed)
    further: Mapping[str, Any] = {} if outcome.error else work.results_of(outcome.planned)
    result = {**outcome.result(), **further, "pending": [*outcome.pending, *further.get("pending", ())]}
    # a pending step is a warning too, because a task that only waits counts as ok
    if not outcome.error and (text := work.shown()):
        result["diff"] = {**outcome.diff, "prepared": text}
    later = [f"to be done by a later run: {waiting}" for waiting in result["pending"]]
    warnings = [f"{platform.node()}: {text}" for text in (*further.get("warnings", ()), *later)]
    return {**result, **({"failed": True} if outcome.error else {}), "warnings": warnings}


def _unpredicted(reason: str, extra: Mapping[str, Any], check: bool) -> dict[str, Any]:
    if not check:
        return {"failed": True, "changed": False, "steps": [], "pending": [], "msg": reason}
    waiting = f"{reason}, so nothing can be predicted"
    return {"changed": False, "steps": [], "pending": [waiting], "warnings": [waiting], **extra}
