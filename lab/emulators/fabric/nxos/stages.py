# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two-stage commits, and the way back of one-stage configuration: checkpoints, and jobs that run commands at a time.

A session's lines are cached, verified as a whole, and put in force, for good or for a time. A target configuration
belongs to the terminal that types it and holds only the lines typed there: a commit adds them to what runs. Whether
another session may confirm isn't documented: here only the one that committed can.

Cisco documents that names of checkpoints are unique, that ten fit, and that an atomic rollback does all or nothing.
That a delay ends with the minute, and the sentences of refusals, are modelled.
"""

from __future__ import annotations

import copy
import re
import time
from typing import Any

from lab.emulators.fabric.cli import candidate, tree
from lab.emulators.fabric.nxos.language import CACHED, NXOS, attached
from lab.emulators.fabric.switch import Refused, State

COMMITTED = (
    "Verification Succeeded.\n\n"
    "Proceeding to apply configuration. This might take a while depending on amount of configuration in buffer.\n"
    "Please avoid other configuration changes during this time.\n"
    "Configuration committed by user '{user}' using Commit ID : {number}"
)
TWO_STAGES = "10.1"
"""The first release that has two stages: Cisco, System Management, two-stage configuration commit."""
FLAPPING = ("shutdown", "mtu", "switchport", "pfc")


def factory(name: str, platform: str, ports: int, address: str) -> State:
    """Return the state of a switch as the site's staging left it: reachable, routed ports, without any QoS."""
    running, names = tree.empty(), [f"Ethernet1/{port}" for port in range(1, ports + 1)]
    blocks = (
        (f"hostname {name}",),
        ("username admin password 5 $5$staged role network-admin",),
        *((f"interface {port}", "no switchport", "no shutdown") for port in names),
        ("interface mgmt0", f"ip address {address}/24"),
    )
    NXOS.typed(running, platform, blocks)
    return {**candidate.factory(platform, running, names), "commits": 1_000_000_000, "checkpoints": {}, "ran": []}


def enter(state: State, vty: str) -> None:
    """Begin an empty target configuration."""
    state["candidates"][vty] = {"tree": copy.deepcopy(state["running"]), "lines": []}


def cache(state: State, vty: str, path: list[str], mode: str, text: str) -> tuple[tree.Node, list[str], str]:
    """Keep a line of the grammar for the commit."""
    target = state["candidates"][vty]
    after, opened = CACHED.apply(target["tree"], path, mode, state["platform"], text)
    target["lines"].append([path, mode, text])
    return target["tree"], after, opened


def commit(state: State, vty: str, user: str, now: float, seconds: int = 0) -> str:
    """Put the cached lines in force. Without any, it confirms what this session has in force for a time."""
    pending, lines = state["pending"], state["candidates"][vty]["lines"]
    mine = bool(pending) and pending["name"] == vty
    if not lines:
        state["pending"] = None if mine else pending
        return ""
    if pending and not mine:
        raise Refused("Failed. err=another commit waits for its confirmation\ncommit verification failed")
    target = _verified(state, lines)
    if seconds:
        candidate.try_out(state, vty, target, now, seconds, link)
    else:
        candidate.replace(state, target, now, link)
        state["pending"] = None
    state["commits"] += 1
    enter(state, vty)
    return COMMITTED.format(user=user, number=state["commits"])


def link(running: tree.Node, name: str) -> tuple[Any, ...]:
    """Return a port's lines that take its link down when they change; the network-qos policy is every port's."""
    node = tree.block(running, f"interface {name}") or tree.empty()
    system = tree.block(running, "system qos") or tree.empty()
    policy = attached(system, "network-qos")
    own = {key: text for key, text in node["lines"].items() if key.split(" ", 1)[1] in FLAPPING}
    return own, policy, tree.block(running, f"policy-map type network-qos {policy}")


def _verified(state: State, lines: list[list[Any]]) -> tree.Node:
    target = copy.deepcopy(state["running"])
    for path, mode, text in lines:
        try:
            NXOS.apply(target, path, mode, state["platform"], text)
        except Refused as err:
            raise Refused(f"Failed. err={err}\ncommit verification failed") from None
    return target


MOST = 10
JOB, SCHEDULE, START = "scheduler job name ", "scheduler schedule name ", "time start "
AT = "%Y:%m:%d:%H:%M"
ROLLED_BACK = (
    "Collecting Running-Config\nGenerating Rollback Patch\nExecuting Rollback Patch\n"
    "Generating Running-config for verification\nVerification is Successful.\n\nRollback completed successfully."
)


def keep(state: State, name: str) -> str:
    """`checkpoint`: remember what runs."""
    if name in state["checkpoints"]:
        raise Refused(f"ERROR: checkpoint {name} already exists")
    if len(state["checkpoints"]) >= MOST:
        raise Refused(f"ERROR: there are {MOST} checkpoints, which is the maximum")
    state["checkpoints"][name] = copy.deepcopy(state["running"])
    return "Done"


def drop(state: State, name: str) -> str:
    """`no checkpoint`."""
    _known(state, name)
    del state["checkpoints"][name]
    return ""


def roll_back(state: State, name: str, now: float) -> str:
    """`rollback running-config checkpoint`."""
    candidate.replace(state, copy.deepcopy(_known(state, name)), now, link)
    return ROLLED_BACK


def timed(text: str, now: float) -> str:
    """Return a line with the time that a delay `+days:hours:minutes` ends at."""
    if not (found := re.fullmatch(r"time start \+(\d+):(\d+):(\d+)", text)):
        return text
    days, hours, minutes = map(int, found.groups())
    return f"{START}{time.strftime(AT, time.gmtime(now + 60 * (minutes + 60 * (hours + 24 * days))))}"


def run_due(state: State, now: float) -> str:
    """Run the jobs whose time has come, once each; return the name of one that ran."""
    done = ""
    for title, node in [*_blocks(state, SCHEDULE)]:
        start = next(tree.values(node, START), "")
        if not start or start > time.strftime(AT, time.gmtime(now)) or title in state["ran"]:
            continue
        state["ran"].append(title)
        for job in tree.values(node, "job name "):
            for command in tree.values(dict(_blocks(state, JOB)).get(job, tree.empty()), "rollback running-config "):
                if (name := command.split()[1]) in state["checkpoints"]:
                    roll_back(state, name, now)
        done = title
    return done


def _blocks(state: State, start: str) -> list[tuple[str, tree.Node]]:
    blocks = state["running"]["blocks"].items()
    return [(title.removeprefix(start), node) for key, node in blocks if (title := tree.header(key)).startswith(start)]


def _known(state: State, name: str) -> tree.Node:
    if name not in state["checkpoints"]:
        raise Refused(f"ERROR: checkpoint {name} does not exist")
    return state["checkpoints"][name]
