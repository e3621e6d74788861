# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person does on the controller: close breakers, say that a repair is done, and clear all reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...core import hostlist
from ...core.command import tool
from ...core.converge import DeviceError
from ...nodes.passport_io import PART
from ..decide import DRAIN, LIFT, RESUME, Act, Seen
from ..finding import HEALS, REASON, heaviest, of_reason
from . import control, history, memory
from .history import Entry
from .memory import Notes
from .tend_io import Look, Place, looked

AGAIN = "at the next look"
INSTEAD = "correct the check that is wrong, drain nodes by hand, or raise drawbridge_health.breaker"


def close(place: Place, names: Sequence[str]) -> list[str]:
    """Close these breakers, or all open ones. Returns sentences on the consequences.

    Raises DeviceError, or ValueError for a breaker that is not open.
    """
    look = looked(place)
    opened = look.notes.opened
    if unknown := [name for name in names if name not in opened]:
        raise ValueError(f"breaker {', '.join(unknown)} is not open; open are: {', '.join(opened) or 'none'}")
    chosen = names or list(opened)
    if not chosen:
        return ["no breaker is open"]
    left = {name: it for name, it in opened.items() if name not in chosen}
    notes = replace(look.notes, opened=left)
    place.store.append(Entry(look.now, "", history.CLOSED, f"{name}: by a person") for name in chosen)
    place.store.save(notes)
    return [*(f"breaker {name} is closed" for name in chosen), *_consequences(place, look, notes)]


def _consequences(place: Place, look: Look, notes: Notes) -> list[str]:
    """What the next look does if nothing changes until then."""
    decision = look.decided(place.settings, notes)
    why = {name: decision.memory.opened[name].why for name in decision.opened}
    again = [f"breaker {name} opens again {AGAIN}: {text}; {INSTEAD}" for name, text in why.items()]
    drains = [call for call in control.calls(decision.acts, {it.name: it for it in look.nodes}) if call.kind == DRAIN]
    count = sum(len(call.acts) for call in drains)
    will = f"{count} node{'s' if count != 1 else ''} will be drained {AGAIN}{':' if drains else ''}"
    return [*again, will, *(f"  {call.names}: {call.acts[0].text}" for call in drains)]


def lift(place: Place, name: str) -> list[str]:
    """End the drain of a node that a person has repaired. Returns sentences on the consequences.

    Raises DeviceError if Slurm does not do it, and ValueError for a drain that only a proof or another program ends.
    """
    look = looked(place)
    node = next((it for it in look.nodes if it.name == name), None)
    prove = place.prove.format(name=name)
    if node is None:
        raise ValueError(f"Slurm or the intent does not have {name}")
    if why := _not_liftable(node, name in look.proving, name in place.settings.proofs, prove):
        raise ValueError(why)
    kind = RESUME if node.state == "DOWN" else LIFT
    report = replace(node.report, findings=())
    [call] = control.calls([Act(kind, name)], {name: node})
    first, *words = call.argv
    place.run([tool(first), *words, f"comment={report}"])
    after = next((it for it in looked(place).nodes if it.name == name), None)
    if after is None or after.ours:
        raise DeviceError(f"Slurm accepted the {memory.CHANGES[kind]} of {name}, but it is not in effect")
    gone = [Entry(look.now, name, history.GONE, it) for it in look.notes.marks.get(name, history.NOTHING).findings]
    reason = node.reason[len(REASON) :]
    place.store.append([*gone, Entry(look.now, name, history.LIFTED, f"by a person: {reason}")])
    marks = {other: it for other, it in look.notes.marks.items() if other != name}
    place.store.save(replace(look.notes, marks=marks))
    return [f"{name} takes jobs again; its next health check reports again, if it still has a finding"]


def forget(place: Place) -> list[str]:
    """Take all reports and answers out of Slurm's records, for a site that leaves health. Drains stay.

    Returns a sentence. Raises DeviceError.
    """
    texts: dict[str, list[str]] = {}
    for node in looked(place).nodes:
        if str(node.report) != node.report.site:
            texts.setdefault(node.report.site, []).append(node.name)
    for site, names in texts.items():
        place.run([tool("scontrol"), "update", f"nodename={hostlist.in_order(names)}", f"comment={site}"])
    count = sum(map(len, texts.values()))
    return [f"the records of {count} node{'s' if count != 1 else ''} have no findings any more"]


def _not_liftable(node: Seen, proving: bool, proof: bool, prove: str) -> str:
    """Why `lift` leaves a drain alone; empty if it may end it."""
    name = node.name
    if not node.ours:
        return f"findings do not keep {name} drained{f'; its reason is: {node.reason}' if node.unavailable else ''}"
    if proving:
        return f"a proof of {name} runs, and ends its drain"
    found = of_reason(node.reason)
    asks = proof and heaviest(found) != HEALS
    if asks or any(it.text.startswith(f"{PART}: ") for it in found):
        return f"the class of {name} asks for a passport; a proof lifts the drain: {prove}"
    return ""
