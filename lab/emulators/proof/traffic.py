# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric between the hosts: what its switches do, which flows share a link, and what switches have counted.

It is in the directory that hosts and switches share, below `fabric`. Each switch has a device, which its emulator
writes, and the flows have one. Flows meet if their servers were alive at the same time. A receiver starts all of its
servers before it lets its senders begin, so the speed of the machine does not matter. A server that was killed has lost
its lock.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from ..common import Device, shared_device, shared_directory
from . import physics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

NAME = "fabric"
EMPTY: dict[str, Any] = {"flows": {}, "steps": 0, "slow": {}, "ranks": {}}


def device() -> Device:
    """Return what all hosts know of the flows: `flows`, `slow` (percent of planted slow paths), `ranks` of jobs."""
    return shared_device(NAME)


def switch_device(shared: Path, name: str) -> Device:
    """Return what a switch shows to the hosts, and `counters` that hosts write for it."""
    return Device(shared / NAME / name)


def switches() -> dict[str, dict[str, Any]]:
    """Return the switches that run, or have run."""
    found = {}
    for path in (shared_directory() / NAME).glob("*/state.json"):
        with Device(path.parent).state() as state:
            if "ports" in state:
                found[path.parent.name] = state
    return found


def slow() -> dict[str, float]:
    """Return the planted slow paths."""
    with device().state(EMPTY) as state:
        return dict(state["slow"])


@contextlib.contextmanager
def listening(name: str, receiver: physics.End, *, counts: bool) -> Iterator[str]:
    """Be a server: a flow to a rail that others meet from now on if it `counts`. Give its name."""
    place = shared_directory() / NAME / "live"
    place.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(PermissionError):
        place.chmod(0o777)
    handle = os.open(place / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with device().state(EMPTY) as state:
            _bury(state, place)
            began = _step(state)
            links = [f"to {receiver.name}"] if counts else []
            state["flows"][name] = {"began": began, "ended": None, "links": links}
        yield name
    finally:
        with device().state(EMPTY) as state:
            if name in state["flows"]:
                state["flows"][name]["ended"] = _step(state)
        with contextlib.suppress(OSError):
            (place / name).unlink()
        os.close(handle)


def _step(state: dict[str, Any]) -> int:
    state["steps"] += 1
    return state["steps"]


def _bury(state: dict[str, Any], place: Path) -> None:
    """Note the end of servers that were killed, and forget flows that no living one has met."""
    for name, flow in state["flows"].items():
        if flow["ended"] is None and not _lives(place / name):
            flow["ended"] = _step(state)
            with contextlib.suppress(OSError):
                (place / name).unlink()
    oldest = min([flow["began"] for flow in state["flows"].values() if flow["ended"] is None], default=state["steps"])
    gone = [name for name, flow in state["flows"].items() if flow["ended"] is not None and flow["ended"] <= oldest]
    for name in gone:
        del state["flows"][name]


def _lives(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def connect(name: str, links: Iterable[str]) -> None:
    """Let others meet a flow on all of its links."""
    with device().state(EMPTY) as state:
        if name in state["flows"] and state["flows"][name]["links"]:
            state["flows"][name]["links"] = list(links)


def met(name: str, links: Iterable[str]) -> Counter[str]:
    """Return how many flows shared each link with a flow, this one included; one that doesn't count is alone."""
    with device().state(EMPTY) as state:
        mine = state["flows"].get(name, {"began": 0, "links": []})
        others = [
            flow["links"]
            for other, flow in state["flows"].items()
            if other != name and (flow["ended"] is None or flow["ended"] > mine["began"])
        ]
    return physics.counted([list(links), *(others if mine["links"] else [])])


def count(found: physics.Outcome, sender: physics.End, seconds: float, running: Mapping[str, Any]) -> None:
    """Add what a flow caused to the counters of the switches, as `fabric.data_model` has them."""
    seen = {name: int(number * seconds) for name, number in _by_name(found).items() if number}
    for switch, port in found.congested:
        if switch in running:
            _add(switch, port, sender.priority, {name: n for name, n in seen.items() if name != "tx_pause"})
    if "tx_pause" in seen and sender.switch in running:
        _add(sender.switch, sender.port, sender.priority, {"tx_pause": seen["tx_pause"]})


def _by_name(found: physics.Outcome) -> dict[str, int]:
    return {"marked": found.marked, "dropped": found.dropped, "tx_pause": found.paused}


def _add(switch: str, port: str, priority: int, seen: Mapping[str, int]) -> None:
    with switch_device(shared_directory(), switch).state() as state:
        counters = state.setdefault("counters", {}).setdefault(port, {}).setdefault(str(priority), {})
        for name, number in seen.items():
            counters[name] = counters.get(name, 0) + number
