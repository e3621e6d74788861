# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The candidate, who may commit it, and commits that roll back by themselves; on the switch's state.

All users share one candidate. `configure exclusive` locks it, and is refused while it has edits; uncommitted edits are
dropped when that terminal ends. A confirmed commit is in force at once. Unless any commit follows in time, the switch
goes back, also when no user is logged in. The state:

    `active`     statements in force.
    `candidate`  the shared candidate, or null while it equals the active statements.
    `lock`       the terminal that has it for itself, or null.
    `editor`     the user whose edits the shared candidate has.
    `history`    commits, the newest first: {time, user, via, minutes, comment, config}.
    `pending`    the confirmed commit that waits: {deadline, comment, before}, or null.
    `ports`      name -> {flaps, blocked, changed}: link changes, and how often a change of PFC stopped the port.

A commit without changes adds no entry to the history. After a restart, a commit that waits is rolled back: modelled.
"""

from __future__ import annotations

import copy
from typing import Any

from lab.emulators.fabric.junos import statements
from lab.emulators.fabric.junos.checks import COS, check
from lab.emulators.fabric.junos.statements import Config
from lab.emulators.fabric.switch import Refused

State = dict[str, Any]
KEPT = 50
EXCLUSIVE, SHARED = "exclusive", "shared"
DEFAULT_MTU = "1514"


def factory(name: str, platform: str, ports: int, address: str) -> State:
    """Return the state of a switch as the site's staging left it: reachable, without any class of service."""
    active: Config = []
    lines = [
        f"system host-name {name}",
        "system login user admin class super-user",
        "system login user noc class super-user",
        "system services ssh",
        f"interfaces em0 unit 0 family inet address {address}/24",
        *(
            f"interfaces et-0/0/{port} unit 0 family inet address 10.20.{port // 128}.{port % 128 * 2}/31"
            for port in range(ports)
        ),
    ]
    for line in lines:
        statements.set_(active, line.split())
    first = {"time": 0.0, "user": "root", "via": "other", "minutes": 0, "comment": "", "config": list(active)}
    return {
        "platform": platform,
        "active": active,
        "candidate": None,
        "lock": None,
        "editor": "",
        "history": [first],
        "pending": None,
        "ports": {f"et-0/0/{port}": {"flaps": 0, "blocked": 0, "changed": 0.0} for port in range(ports)},
        "neighbors": {},
    }


def enter(state: State, mode: str, vty: str) -> str:
    """Begin to configure; return the remark that Junos prints."""
    if mode == SHARED:
        return ""
    if state["lock"]:
        raise Refused(f"error: configuration database locked by: {state['lock']}")
    if state["candidate"] is not None:
        raise Refused("error: configuration database modified")
    state["lock"] = vty
    return "warning: uncommitted changes will be discarded on exit\n"


def leave(state: State, vty: str) -> None:
    """End a terminal's work; what only it could commit is dropped."""
    if state["lock"] == vty:
        state.update(lock=None, candidate=None, editor="")


def candidate(state: State) -> Config:
    """Return what would be in force after a commit."""
    return copy.copy(state["active"] if state["candidate"] is None else state["candidate"])


def stage(state: State, user: str, config: Config) -> None:
    """Keep an edited candidate."""
    same = sorted(config) == sorted(state["active"])
    state.update(candidate=None if same else config, editor="" if same else user)


def commit(state: State, user: str, vty: str, now: float, minutes: int, comment: str) -> None:
    """Put the candidate in force; for some minutes, or for good, which also keeps what waits."""
    if state["lock"] not in (None, vty):
        raise Refused(f"error: configuration database locked by: {state['lock']}")
    config = candidate(state)
    check(config)
    before = state["active"]
    if minutes or state["candidate"] is not None:
        _put(state, config, now, user=user, via="cli", minutes=minutes, comment=comment)
    state.update(candidate=None, editor="")
    state["pending"] = {"deadline": now + minutes * 60, "before": before} if minutes else None


def roll_back(state: State, user: str, number: int) -> None:
    """Load an earlier configuration into the candidate; 0 is the active one."""
    if number >= len(state["history"]):
        raise Refused(f"error: Could not read configuration: rollback {number} does not exist")
    stage(state, user, list(state["history"][number]["config"]))


def expire(state: State, now: float) -> str:
    """Go back when the time is over; return the comment of the commit that was rolled back, or nothing."""
    if not state["pending"] or now < state["pending"]["deadline"]:
        return ""
    return go_back(state, now)


def go_back(state: State, now: float) -> str:
    """Roll the confirmed commit back that waits."""
    gone = state["history"][0]["comment"] or "commit confirmed"
    before = state["pending"]["before"]
    _put(state, list(before), now, user="root", via="other", minutes=0, comment="")
    state["pending"] = None
    return gone


def restart(state: State, now: float) -> None:
    """Do what a power cut does: nothing that is not committed for good is left."""
    state.update(candidate=None, lock=None, editor="")
    if state["pending"]:
        go_back(state, now)


def _put(state: State, config: Config, now: float, **entry: Any) -> None:
    for name, port in state["ports"].items():
        for what, count in ((_link, "flaps"), (_pfc, "blocked")):
            if what(state["active"], name) != what(config, name):
                port[count] += 1
                port["changed"] = now
    state["active"] = config
    state["history"] = [{"time": now, **entry, "config": list(config)}, *state["history"]][:KEPT]


def _link(config: Config, name: str) -> tuple[str, ...]:
    """Return settings whose change takes the link down for a moment."""
    active = statements.in_force(config)
    kept = [it for it in active if it.startswith((f"interfaces {name} disable", f"interfaces {name} ether-options "))]
    return statements.value(active, f"interfaces {name} mtu") or DEFAULT_MTU, *kept


def _pfc(config: Config, name: str) -> tuple[str, ...]:
    """Return settings whose change blocks the port: its congestion notification profile, and what the profile has."""
    active = statements.in_force(config)
    profile = bound(active, name, "congestion-notification-profile")
    return (profile, *sorted(it for it in active if it.startswith(f"{COS} congestion-notification-profile {profile} ")))


def bound(active: Config, name: str, what: str) -> str:
    """Return what class of service binds to a port, by its name or by a pattern such as et-*."""
    own = statements.value(active, f"{COS} interfaces {name} {what}")
    return own or statements.value(active, f"{COS} interfaces {name.partition('-')[0]}-* {what}")
