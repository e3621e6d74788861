# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Transient units, as `systemd-run --on-active` makes them: a timer, and the service that it starts.

The timer is gone when its service ran (systemd-run sets RemainAfterElapse=no). A service that failed stays listed.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State


def start_timer(state: State, words: list[str], now: float) -> str:
    """Do `systemd-run` with these words."""
    options = dict(word.removeprefix("--").split("=", 1) for word in words if re.match("--[a-z-]+=", word))
    command = [word for word in words if not word.startswith("--")]
    if not command or not options.get("on-active", "").isdigit():
        raise Refused("the lab runs systemd-run --unit=NAME --on-active=SECONDS COMMAND only")
    name = options["unit"]
    if name in state["units"]:
        raise Refused(f"Failed to start transient timer unit: Unit {name}.timer was already loaded.")
    state["units"][name] = {"deadline": now + int(options["on-active"]), "command": command, "failed": False}
    return f"Running timer as unit: {name}.timer\nWill run service as unit: {name}.service"


def stop(state: State, unit: str) -> None:
    """Do `systemctl stop NAME.timer`."""
    name = unit.removesuffix(".timer")
    if name not in state["units"] or state["units"][name]["failed"]:
        raise Refused(f"Failed to stop {unit}: Unit {unit} not loaded.")
    del state["units"][name]


def command(state: State, unit: str) -> list[str]:
    """Return what `systemctl start NAME.service` runs."""
    name = unit.removesuffix(".service")
    if name not in state["units"]:
        raise Refused(f"Failed to start {unit}: Unit {unit} not found.")
    return state["units"][name]["command"]


def reset(state: State, unit: str) -> None:
    """Do `systemctl reset-failed NAME.service`."""
    name = unit.removesuffix(".service")
    if not state["units"].get(name, {}).get("failed"):
        raise Refused(f"Failed to reset failed state of unit {unit}: Unit {unit} not loaded.")
    del state["units"][name]


def due(state: State, now: float) -> str:
    """Return the name of a timer that has run out, or nothing."""
    return next((n for n, it in state["units"].items() if not it["failed"] and now >= it["deadline"]), "")


def listed(state: State, pattern: str) -> str:
    """Return `systemctl list-units --plain --no-legend`: what is active, and what failed."""
    lines = []
    for name, it in sorted(state["units"].items()):
        kind, rest = (".service", "failed failed") if it["failed"] else (".timer", "active waiting")
        if fnmatchcase(name + kind, pattern):
            lines.append(f"{name}{kind} loaded {rest} {' '.join(it['command'])}")
    return "\n".join(lines)
