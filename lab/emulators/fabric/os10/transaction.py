# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The candidate configuration of OS10, on the switch's state (User Guide 10.5, CLI basics).

There is one candidate, which all users share. Lines of a user in a transaction wait in it. A line of any other user
takes effect at once, together with everything that waits. What a session leaves there stays when the session ends, and
nothing reverts by itself. `lock` keeps other sessions from changing anything until the session ends; it fails while
something waits. The state, beside what all systems have:

    candidates     {"candidate": {"tree": ...}} while the candidate differs from what runs
    transactions   terminals whose lines wait
    lock           the terminal that has the lock, or nothing
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli import candidate, tree
from lab.emulators.fabric.os10.tree import OS10, validate
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.tree import Node
    from lab.emulators.fabric.switch import State

CANDIDATE = "candidate"
FLAPPING = ("mtu ", "shutdown", "no shutdown", "switchport", "no switchport")
FACTORY = (
    ("ip vrf default",),
    ("hostname {name}",),
    ("iscsi enable",),
    ("system-user linuxadmin password $6$5DdOHYg5$J",),
    ("username admin password $6$q9QBeYjZ$j role sysadmin priv-lvl 15",),
    ("aaa authentication login default local",),
    ("class-map type application class-iscsi",),
    ("policy-map type application policy-iscsi",),
    ("interface vlan1", "no shutdown"),
    ("interface mgmt1/1/1", "no shutdown", "no ip address dhcp", "ip address {address}/24"),
)
PORT = ("no shutdown", "switchport access vlan 1", "flowcontrol receive on")
"""What each port of a new switch has (captures of OS10 10.5.1)."""


def factory(name: str, platform: str, ports: int, address: str) -> State:
    """Return the state of a new switch that can be reached."""
    running = tree.empty()
    names = [f"ethernet1/1/{number}" for number in range(1, ports + 1)]
    for port in names:
        tree.at(running, [f"80.{PORT_RANK} interface {port}"])
    staged_lines = [[line.format(name=name, address=address) for line in block] for block in FACTORY]
    OS10.typed(running, platform, [*staged_lines, *((f"interface {port}", *PORT) for port in names)])
    return {**candidate.factory(platform, running, names), "transactions": [], "lock": ""}


def break_out(state: State, port: str, parts: int) -> None:
    """Replace a port by parts of it, such as ethernet1/1/4:1, as `interface breakout` does."""
    for config in (state["running"], state["startup"]):
        del config["blocks"][f"80.{PORT_RANK} interface {port}"]
        for name in (f"{port}:{number}" for number in range(1, parts + 1)):
            tree.at(config, [f"80.{PORT_RANK} interface {name}"])
            OS10.typed(config, state["platform"], [(f"interface {name}", *PORT)])
            state["ports"][name] = {"flaps": 0, "changed": 0.0}
    del state["ports"][port]


PORT_RANK = next(
    index for index, line in enumerate(OS10.table("config", "")) if line.pattern == "interface <port:port>"
)


def link(running: Node, port: str) -> Any:
    """Return what takes a port's link down for a moment when it changes."""
    here = tree.block(running, f"interface {port}") or tree.empty()
    return sorted(text for text in here["lines"].values() if text.startswith(FLAPPING))


def edited(state: State, vty: str) -> Node:
    """Return the candidate for an edit of a user. Refused while another session has the lock."""
    if state["lock"] not in ("", vty):
        raise Refused("% Error: Configuration is locked by another session.")
    return state["candidates"].setdefault(CANDIDATE, {"tree": copy.deepcopy(state["running"])})["tree"]


def staged(state: State) -> Node:
    """Return the candidate; what runs if nothing waits."""
    return state["candidates"].get(CANDIDATE, {"tree": state["running"]})["tree"]


def end_if_over(state: State) -> None:
    """Forget a candidate that is what runs."""
    if staged(state) == state["running"]:
        state["candidates"].clear()


def lock(state: State, vty: str, _now: float) -> None:
    """Keep other sessions from changing anything."""
    if state["lock"] not in ("", vty):
        raise Refused("% Error: Configuration is already locked by another session.")
    if state["candidates"]:
        raise Refused("% Error: Uncommitted changes in the candidate configuration; commit or discard them first.")
    state["lock"] = vty


def unlock(state: State, vty: str, _now: float) -> None:
    """Let others change something again."""
    state["lock"] = "" if state["lock"] == vty else state["lock"]


def start(state: State, vty: str, _now: float) -> None:
    """Let a session's lines wait from here on."""
    leave(state, vty)
    state["transactions"].append(vty)


def commit(state: State, vty: str, now: float) -> None:
    """Put everything that waits in force, whoever typed it; the session's next lines take effect at once."""
    target = edited(state, vty)
    validate(target)
    candidate.replace(state, copy.deepcopy(target), now, link)
    state["candidates"].clear()
    leave(state, vty)


def discard(state: State, vty: str, _now: float) -> None:
    """Drop everything that waits."""
    edited(state, vty)
    state["candidates"].clear()


def leave(state: State, vty: str) -> None:
    """End a session's transaction; what it typed stays."""
    state["transactions"] = [other for other in state["transactions"] if other != vty]
