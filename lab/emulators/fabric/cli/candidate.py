# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Another configuration in force: for good, or until a timer that no user confirmed runs out. Links flap on the way.

The state of a switch, as far as all systems share it:

    `running`, `startup`  trees (startup is null until the first save).
    `candidates`          prepared changes, not in force; each system says what its candidate is.
    `pending`             the change that waits for its confirmation: {name, deadline, before}, or null.
    `last_change`         when another configuration last came into force.
    `ports`               name -> {flaps, changed}: link changes and when the last one was.
    `neighbors`           port -> [device, port] at the other end.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

    # (configuration, port) -> what takes the port's link down for a moment when it changes
    Link: TypeAlias = Callable[[Node, str], Any]


def factory(platform: str, running: Node, ports: Iterable[str]) -> State:
    """Return the state of a switch that runs, and starts with, a configuration."""
    return {
        "platform": platform,
        "running": running,
        "startup": copy.deepcopy(running),
        "candidates": {},
        "pending": None,
        "last_change": 0.0,
        "ports": {port: {"flaps": 0, "changed": 0.0} for port in ports},
        "neighbors": {},
    }


def replace(state: State, running: Node, now: float, link: Link) -> None:
    """Put another running configuration in place; links whose settings change go down and up again."""
    for name, port in state["ports"].items():
        if link(state["running"], name) != link(running, name):
            port["flaps"] += 1
            port["changed"] = now
    if state["running"] != running:
        state["last_change"] = now
    state["running"] = running


def try_out(state: State, name: str, running: Node, now: float, seconds: float, link: Link) -> None:
    """Put another configuration in place for so long."""
    before = state["running"]
    replace(state, running, now, link)
    state["pending"] = {"name": name, "deadline": now + seconds, "before": before}


def go_back(state: State, now: float, link: Link) -> str:
    """Put the configuration back that the waiting change replaced; return the name of the change."""
    pending, state["pending"] = state["pending"], None
    replace(state, pending["before"], now, link)
    return pending["name"]


def expired(state: State, now: float) -> bool:
    """Say whether the time of the waiting change is over."""
    return bool(state["pending"]) and now >= state["pending"]["deadline"]


def restart(state: State, now: float, link: Link) -> None:
    """Come up with the saved configuration; candidates and a pending change are lost."""
    replace(state, copy.deepcopy(state["startup"] or state["running"]), now, link)
    state["pending"], state["candidates"] = None, {}
