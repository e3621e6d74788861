# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What Junos finds when it checks a candidate, from Juniper's pages; the sentences are modelled.

Pages: "Defining CoS Forwarding Classes" (one drop attribute a queue), "congestion-notification-profile" (DSCP and
802.1p in one). Also "fill-level", "transmit-rate" (none for strict-high), "PFC Watchdog" (one action on all ports).
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.junos.statements import Config, in_force, value
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILED = "error: configuration check-out failed"
COS = "class-of-service"
DEFAULT_CLASSES = {"best-effort": 0, "fcoe": 3, "no-loss": 4, "network-control": 7, "mcast": 8}
DEFAULT_LOSSLESS = ("fcoe", "no-loss")
PAIR = 2


def check(config: Config) -> None:
    """Raise Refused for a configuration that could not be put in force."""
    active = in_force(config)
    for path, why in itertools.chain(_references(active), _queues(active), _profiles(active), _schedulers(active)):
        raise Refused(f"[edit {path}]\n  {why}\n{FAILED}")


def classes(active: Config) -> dict[str, dict[str, str]]:
    """Return the forwarding classes, each with queue-num, no-loss and pfc-priority as far as it has them."""
    found = {
        name: {"queue-num": str(queue), **({"no-loss": ""} if name in DEFAULT_LOSSLESS else {})}
        for name, queue in DEFAULT_CLASSES.items()
    }
    own: dict[str, dict[str, str]] = {}
    for line in active:
        if match := re.fullmatch(rf"{COS} forwarding-classes class (\S+)(?: (\S+)(?: (\S+))?)?", line):
            own.setdefault(match[1], {}).update({match[2]: match[3] or ""} if match[2] else {})
    return {**found, **own}


def _references(active: Config) -> Iterator[tuple[str, str]]:
    known = classes(active)
    kinds = {
        "congestion-notification-profile": "congestion-notification-profile",
        "scheduler-map": "scheduler-maps",
        "scheduler": "schedulers",
        "drop-profile": "drop-profiles",
        "classifiers dscp": "classifiers dscp",
    }
    for line in active:
        path, _, name = line.rpartition(" ")
        for word, at in kinds.items():
            refers = line.startswith(f"{COS} ") and path.endswith(f" {word}") and not path.startswith(f"{COS} {at}")
            if refers and name != "default" and not any(it.startswith(f"{COS} {at} {name} ") for it in active):
                yield path, f"{name} is not defined at [edit {COS} {at}]"
        if match := re.match(rf"{COS} (?:classifiers|scheduler-maps) .*?forwarding-class (\S+)", line):
            if match[1] not in known:
                yield path, f"forwarding-class {match[1]} is not defined"
            elif "queue-num" not in known[match[1]]:
                yield f"{COS} forwarding-classes class {match[1]}", "Missing mandatory statement: 'queue-num'"


def _queues(active: Config) -> Iterator[tuple[str, str]]:
    used: dict[str, bool] = {}
    for name, it in classes(active).items():
        lossless = "no-loss" in it
        if used.setdefault(it.get("queue-num", ""), lossless) != lossless:
            why = f"classes of queue {it['queue-num']} must all be no-loss, or none of them"
            yield f"{COS} forwarding-classes class {name}", why


def _profiles(active: Config) -> Iterator[tuple[str, str]]:
    drops: dict[str, dict[str, list[int]]] = {}
    for line in active:
        if match := re.fullmatch(rf"{COS} drop-profiles (\S+) interpolate (\S+) (\d+)", line):
            drops.setdefault(match[1], {}).setdefault(match[2], []).append(int(match[3]))
    for name, it in drops.items():
        levels, chances = it.get("fill-level", []), it.get("drop-probability", [])
        if len(levels) != PAIR or len(chances) != PAIR or levels[0] >= levels[1] or chances[0] != 0:
            yield f"{COS} drop-profiles {name}", "two rising fill-levels, and drop-probability from 0, are needed"
    profiles = {line.split()[2] for line in active if line.startswith(f"{COS} congestion-notification-profile ")}
    for name in sorted(profiles):
        path = f"{COS} congestion-notification-profile {name}"
        kinds = {line.split()[4] for line in active if line.startswith(f"{path} input ") and " code-point " in line}
        if len(kinds) > 1:
            yield path, "DSCP and IEEE 802.1p code points can't be in one profile"
    actions = {line.split()[-1] for line in active if " pfc-watchdog watchdog-action " in line}
    if len(actions) > 1:
        yield f"{COS} congestion-notification-profile", "watchdog-action must be the same in all profiles"
    for line in active:
        port = line.split()[2] if line.startswith(f"{COS} interfaces ") else ""
        paused = f"interfaces {port} ether-options flow-control" in active
        if port and paused and value(active, f"{COS} interfaces {port} congestion-notification-profile"):
            yield f"interfaces {port} ether-options", "flow-control and priority-based flow control exclude each other"


def _schedulers(active: Config) -> Iterator[tuple[str, str]]:
    rates = {it.split()[2]: int(it.split()[-1]) for it in active if " transmit-rate percent " in it}
    for name in rates:
        if value(active, f"{COS} schedulers {name} priority") == "strict-high":
            yield f"{COS} schedulers {name}", "a strict-high queue can't have a transmit-rate"
    sums: dict[str, int] = {}
    for line in (it.split() for it in active if it.startswith(f"{COS} scheduler-maps ") and " scheduler " in it):
        sums[line[2]] = sums.get(line[2], 0) + rates.get(line[-1], 0)
    for name, total in sums.items():
        if total > 100:
            yield f"{COS} scheduler-maps {name}", f"the sum of transmit rates is {total} percent"
