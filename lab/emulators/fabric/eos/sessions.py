# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Configuration sessions: candidates, commit, commit timer, confirm and expiry, on the switch's state.

A session starts as a copy of running-config and replaces all of it when it is committed: what others changed in between
is lost. A timed commit is live at once. Unless it is confirmed in time, the switch goes back by itself, also when no
user is logged in. A candidate is {state, tree, user, completed, instances: {vty: user}}.

What EOS prints when it refuses is documented only in part: the words "pendingCommitTimer", "is pending commit timer"
and "Maximum number of pending sessions". The rest of those sentences is modelled.
"""

from __future__ import annotations

import copy
from typing import Any

from lab.emulators.fabric.cli import candidate, tree
from lab.emulators.fabric.eos.tree import EOS
from lab.emulators.fabric.switch import Refused, State

MAX_PENDING = 5
MAX_COMPLETED = 1
FLAPPING = ("shutdown", "mtu", "switchport")


def factory(name: str, platform: str, ports: int, address: str) -> State:
    """Return the state of a switch as the site's staging left it: reachable, without any QoS."""
    running, names = tree.empty(), [f"Ethernet{port}" for port in range(1, ports + 1)]
    whole = (
        "username admin privilege 15 role network-admin nopassword",
        "transceiver qsfp default-mode 4x10G",
        "service routing protocols model multi-agent",
        f"hostname {name}",
        "spanning-tree mode mstp",
        "ip routing",
        *(f"interface {port}" for port in names),
    )
    management = ("interface Management1", f"ip address {address}/24")
    EOS.typed(running, platform, [*([line] for line in whole), management])
    return candidate.factory(platform, running, names)


def enter(state: State, name: str, vty: str, user: str) -> None:
    """Open a session, or take part in one that is still open."""
    found = state["candidates"].get(name)
    if found and found["state"] != "pending":
        raise Refused(f"% Cannot enter session {name}: its state is {found['state']}")
    if not found:
        _refuse_too_many(state)
        found = {
            "state": "pending",
            "tree": copy.deepcopy(state["running"]),
            "user": "",
            "completed": 0.0,
            "instances": {},
        }
        state["candidates"][name] = found
    found["instances"][vty] = user


def leave(state: State, vty: str) -> None:
    """Forget a terminal: what it left uncommitted stays behind, pending."""
    for session in state["candidates"].values():
        session["instances"].pop(vty, None)


def commit(state: State, name: str, user: str, now: float, timer: float = 0.0) -> None:
    """Make a session's candidate the running configuration; with a timer (seconds), only for so long."""
    pending = state["pending"]
    if pending and pending["name"] == name and not timer:
        state["pending"] = None
        _complete(state, name, user, now)
        return
    if pending:
        raise Refused(f"% Cannot commit session {name}: another session {pending['name']} is pending commit timer")
    session = _pending(state, name)
    target = copy.deepcopy(session["tree"])
    if timer:
        candidate.try_out(state, name, target, now, timer, link)
        session.update(state="pendingCommitTimer", user=user, completed=now, instances={})
    else:
        candidate.replace(state, target, now, link)
        _complete(state, name, user, now)


def abort(state: State, name: str, now: float) -> None:
    """Drop a session; one whose timer runs is rolled back."""
    pending = state["pending"]
    if pending and pending["name"] == name:
        candidate.go_back(state, now, link)
    elif name in state["candidates"]:
        _pending(state, name)
    else:
        raise Refused(f"% Session {name} not found")
    state["candidates"].pop(name, None)


def link(running: tree.Node, name: str) -> dict[str, str]:
    """Return the lines of a port that take its link down when they change."""
    node = tree.block(running, f"interface {name}") or tree.empty()
    return {key: text for key, text in node["lines"].items() if key.split(" ", 1)[1] in FLAPPING}


def _pending(state: State, name: str) -> dict[str, Any]:
    session = state["candidates"].get(name)
    if not session:
        raise Refused(f"% Session {name} not found")
    if session["state"] != "pending":
        raise Refused(f"% Session {name} cannot be changed: its state is {session['state']}")
    return session


def _refuse_too_many(state: State) -> None:
    open_sessions = [s for s in state["candidates"].values() if s["state"] == "pending"]
    if len(open_sessions) >= MAX_PENDING:
        raise Refused(
            "% Maximum number of pending sessions has been reached."
            " Please commit or abort previous sessions before creating a new one."
        )


def _complete(state: State, name: str, user: str, now: float) -> None:
    """Keep the last completed session only, as EOS does by default."""
    done = [n for n, s in state["candidates"].items() if s["state"] == "completed"]
    for old in sorted(done, key=lambda n: state["candidates"][n]["completed"])[: len(done) + 1 - MAX_COMPLETED]:
        del state["candidates"][old]
    state["candidates"][name].update(state="completed", user=user, completed=now, instances={})
