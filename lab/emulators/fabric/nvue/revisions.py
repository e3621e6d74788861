# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Revisions: each user's pending edits, apply under a timer, confirm, roll-back, auto-save; on the switch's state.

To apply a revision puts its edits onto the configuration applied then: what another user applied in between stays,
unless both edited the same value. The state:

    `applied`, `startup`  configurations.
    `pending`             user -> {rev, edits: [["set" or "unset", words], ...]}.
    `confirm`             the timed apply that waits: {rev, deadline, before}, or null.
    `revisions`           number -> {state, message, user, ...} as `nv config revision -o json` prints them.
    `ports`               name -> {flaps, changed}: link changes and when the last one was.

States `confirm`, `pending` and `applied_and_saved` are documented or captured. State `confirm_fail`, of a revision that
was not confirmed in time, and the texts of errors are modelled.
"""

from __future__ import annotations

import copy
from typing import Any

from lab.emulators.fabric.nvue import tree
from lab.emulators.fabric.switch import Refused

State = dict[str, Any]
DEFAULT_MTU = 9216
ROCE_POOLS = ("default-lossy", "roce-lossless")
"""RoCE mode gives each half of the buffers; the page on RoCE lowers one before it raises the other."""


def factory(name: str, platform: str, ports: int, address: str, version: str = "5.16.0") -> State:
    """Return the state of a switch as the site's staging left it: reachable, without any QoS."""
    applied: tree.Tree = {
        "interface": {
            "eth0": {"ip": {"address": {f"{address}/24": {}}}},
            **{f"swp{number}": {"link": {"state": {"up": {}}}} for number in range(1, ports + 1)},
        },
        "system": {"aaa": {"user": {"admin": {}, "noc": {}}}, "hostname": name},
    }
    return {
        "platform": platform,
        "version": version,
        "applied": applied,
        "startup": copy.deepcopy(applied),
        "pending": {},
        "confirm": None,
        "revisions": {"1": _revision("applied_and_saved", "admin", "", 1)},
        "ports": {f"swp{number}": {"flaps": 0, "changed": 0.0} for number in range(1, ports + 1)},
        "neighbors": {},
    }


def minor(state: State) -> int:
    """Return the second number of the release: 11 of Cumulus Linux 5.11.0."""
    return int(state["version"].split(".")[1])


def edit(state: State, user: str, verb: str, words: list[str]) -> None:
    """Add one edit to the user's pending revision. Raises Refused for a path or value that there can't be."""
    tried = candidate(state, user)
    if verb == "set":
        tree.set_(tried, words, minor(state))
    else:
        tree.unset(tried, words)
    if user not in state["pending"]:
        number = str(max(map(int, state["revisions"])) + 1)
        state["revisions"][number] = _revision("pending", user, "", int(number))
        state["pending"][user] = {"rev": number, "edits": []}
    state["pending"][user]["edits"].append([verb, words])


def candidate(state: State, user: str) -> tree.Tree:
    """Return what would run if the user applied now."""
    tried = copy.deepcopy(state["applied"])
    for verb, words in state["pending"].get(user, {"edits": []})["edits"]:
        if verb == "set":
            tree.set_(tried, words, minor(state))
        else:
            tree.unset(tried, words)
    return tried


def detach(state: State, user: str) -> None:
    """Let go of the pending edits; the revision keeps its number."""
    state["pending"].pop(user, None)


def apply(state: State, user: str, now: float, timer: float, message: str) -> str:
    """Put the pending edits in force; with a timer (seconds), only for so long."""
    if state["confirm"]:
        raise Refused(f"Error: revision {state['confirm']['rev']} is waiting for confirmation")
    if user not in state["pending"]:
        return "config apply executed with no config diff"
    _refuse_invalid(tried := candidate(state, user))
    number = state["pending"].pop(user)["rev"]
    before = state["applied"]
    replace(state, tried, now)
    state["revisions"][number].update(message=message or f"Config update by {user}")
    if timer:
        state["confirm"] = {"rev": number, "deadline": now + timer, "before": before}
        state["revisions"][number]["state"] = "confirm"
        return f"applied [rev_id: {number}]. The configuration rolls back in {timer:g} s unless it is confirmed."
    _keep(state, number)
    return f"applied [rev_id: {number}]"


def confirm(state: State, number: str) -> str:
    """Keep the revision that waits."""
    waiting = _waiting(state, number)
    state["confirm"] = None
    _keep(state, waiting["rev"])
    return f"confirmed [rev_id: {waiting['rev']}]"


def refuse(state: State, number: str, now: float) -> str:
    """Roll the revision that waits back."""
    waiting = _waiting(state, number)
    replace(state, waiting["before"], now)
    state["confirm"] = None
    state["revisions"][waiting["rev"]]["state"] = "confirm_fail"
    return f"rolled back [rev_id: {waiting['rev']}]"


def expire(state: State, now: float) -> str:
    """Go back when the timer has run out; return the revision that was rolled back, or nothing."""
    waiting = state["confirm"]
    if not waiting or now < waiting["deadline"]:
        return ""
    refuse(state, waiting["rev"], now)
    return waiting["rev"]


def save(state: State) -> str:
    """Do `nv config save`."""
    state["startup"] = copy.deepcopy(state["applied"])
    for revision in state["revisions"].values():
        if revision["state"] == "applied":
            revision["state"] = "applied_and_saved"
    return "saved [rev_id: applied]"


def replace(state: State, applied: tree.Tree, now: float) -> None:
    """Put another configuration in force; links whose settings change go down and up again."""
    for name, port in state["ports"].items():
        if _link(state["applied"], name) != _link(applied, name):
            port["flaps"] += 1
            port["changed"] = now
    state["applied"] = applied


def _revision(state: str, user: str, message: str, number: int) -> dict[str, Any]:
    return {
        "additional-data": {"parent-revision-id": "applied"},
        "last-apply": {"apply-id": f"rev_{number}_apply_1", "user": user},
        "message": message,
        "state": state,
        "state-controls": {"apply-type": "CLI"},
    }


def _keep(state: State, number: str) -> None:
    autosave = state["applied"].get("system", {}).get("config", {}).get("auto-save", {}).get("state", "enabled")
    state["revisions"][number]["state"] = "applied"
    if autosave == "enabled":
        save(state)


def _waiting(state: State, number: str) -> dict[str, Any]:
    waiting = state["confirm"]
    if not waiting or number not in ("", waiting["rev"]):
        raise Refused("Error: there is no revision that waits for confirmation")
    return waiting


def _link(applied: tree.Tree, name: str) -> tuple[Any, Any]:
    link = applied.get("interface", {}).get(name, {}).get("link", {})
    return link.get("mtu", DEFAULT_MTU), link.get("state")


def _refuse_invalid(tried: tree.Tree) -> None:
    """What NVUE finds when it applies: shares above 100 %, crossed thresholds, a watchdog where nothing pauses."""
    qos = tried.get("qos", {})
    for name, profile in qos.get("egress-scheduler", {}).items():
        classes = profile.get("traffic-class", {})
        total = sum(int(part.get("bw-percent", 0)) for part in classes.values() if part.get("mode") != "strict")
        if total > 100:
            raise Refused(f"Error: egress-scheduler {name}: the sum of bw-percent is {total}, more than 100")
        if missing := [number for number, it in classes.items() if it.get("mode") == "dwrr" and "bw-percent" not in it]:
            raise Refused(f"Error: egress-scheduler {name}: traffic-class {missing[0]} is dwrr without bw-percent")
    for name, profile in qos.get("congestion-control", {}).items():
        for number, part in profile.get("traffic-class", {}).items():
            if int(part.get("min-threshold", 150000)) > int(part.get("max-threshold", 1500000)):
                raise Refused(f"Error: congestion-control {name}: traffic-class {number} min-threshold > max-threshold")
    pools = {name: 50 for name in ROCE_POOLS if pauses(tried)}
    pools |= {name: int(it.get("memory-percent", 0)) for name, it in qos.get("traffic-pool", {}).items()}
    if sum(pools.values()) > 100:
        raise Refused(f"Error: traffic-pool: the sum of memory-percent is {sum(pools.values())}, more than 100")
    for name, port in tried.get("interface", {}).items():
        watched = port.get("qos", {}).get("pfc-watchdog", {}).get("state") == "enabled"
        if watched and not (pauses(tried) or port["qos"].get("pfc") or port["qos"].get("link-pause")):
            raise Refused(f"Error: pfc-watchdog can only be configured on {name} with PFC or link pause configuration")


def pauses(applied: tree.Tree) -> bool:
    """Say whether RoCE mode switches PFC on, on all ports."""
    roce = applied.get("qos", {}).get("roce", {})
    on = roce.get("enable") == "on" or roce.get("state") == "enabled"
    return on and roce.get("mode", "").startswith("lossless")
