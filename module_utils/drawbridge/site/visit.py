# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A visit: many layers of a node in one process, in their order.

A layer runs only if all layers that it needs are in effect. Layers that need nothing of a failed one go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.converge import DeviceError
from ..core.layer import Params, run, validated
from .layers import LAYERS, PLACED
from .placed_layer import note, recorded

DONE, FAILED, WAITS, STOPPED = "done", "failed", "waits", "stopped"
"""A layer after a visit: in effect or predicted; failed; waiting for the controller; in need of a layer that failed."""


@dataclass(frozen=True)
class Call:
    """One layer of a visit."""

    layer: str
    """Its name in LAYERS."""
    options: Params
    needs: Sequence[int] = ()
    """Positions of earlier layers that must be in effect."""
    predict: bool = False
    """Only predict: if there is something to do, the controller must act first."""
    postponed: str = ""
    """Why its steps must wait for a later run; empty if they need not."""
    leaves: str = ""
    """The role that it takes away from a host. It does nothing on a host where that role placed nothing."""


@dataclass(frozen=True)
class Visited:
    """A layer after the visit, with the result of its module; empty for a layer that did not run."""

    state: str
    result: dict[str, Any] = field(default_factory=dict)


def visit(calls: Sequence[Call], check: bool) -> list[Visited]:
    """Run the layers in order. In check mode no layer waits for the controller."""
    seen: list[Visited] = []
    here, why = _record(calls, check)
    for call in calls:
        needed = [seen[need] for need in call.needs]
        if why and (call.leaves or call.layer == PLACED):
            seen.append(Visited(FAILED, {"failed": True, "changed": False, "msg": why}))
        elif call.leaves and call.leaves not in here:
            seen.append(Visited(DONE, {"changed": False}))
        else:
            seen.append(_visited(_after(call, needed), {it.state for it in needed}, check))
    return seen


def _record(calls: Sequence[Call], check: bool) -> tuple[set[str], str]:
    """Note what this visit places. Returns the roles that placed something here before, and why it can't be known."""
    last = next((call for call in calls if call.layer == PLACED), None)
    if not last:
        return set(), ""
    try:
        options = validated(LAYERS[PLACED].spec, last.options)
        here = recorded(options)
        if not check:
            note(options)
        return here, ""
    except DeviceError as err:
        return set(), str(err)


def _after(call: Call, needed: Sequence[Visited]) -> Call:
    """The last layer waits while a role that leaves is not gone yet: its programs are still in use."""
    waiting = [text for it in needed for text in it.result.get("pending", ())] if call.layer == PLACED else []
    return replace(call, postponed=f"first {waiting[0]}") if waiting else call


def _visited(call: Call, needed: set[str], check: bool) -> Visited:
    if needed & {FAILED, STOPPED}:
        return Visited(STOPPED)
    predict = call.predict and not check
    if WAITS in needed and not predict:
        return Visited(WAITS)
    result = _run(call, check or predict)
    if WAITS in needed:
        # a prediction saves a visit: the controller can act for several layers at once
        return Visited(WAITS, result if result.get("changed") and not result.get("failed") else {})
    if result.get("failed"):
        return Visited(FAILED, result)
    return Visited(WAITS if predict and result["changed"] else DONE, result)


def _run(call: Call, check: bool) -> dict[str, Any]:
    try:
        layer = LAYERS[call.layer]
        return run(layer, validated(layer.spec, call.options, layer.exclusive), check, call.postponed)
    except DeviceError as err:
        return {"failed": True, "changed": False, "msg": str(err)}
    except Exception as err:  # the other layers go on
        return {"failed": True, "changed": False, "msg": f"{type(err).__name__}: {err}"}
