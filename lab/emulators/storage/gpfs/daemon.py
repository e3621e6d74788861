# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The daemon on each node: its state as others see it, start, stop, and the emulated mmfsd."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from ...common import DRIFT, Device
from .model import Cluster, Failed, cluster_device, founder_here
from .states import default_state
from .text import dated, header, row, say

if TYPE_CHECKING:
    from collections.abc import Iterable

STATE = "nodeName nodeNumber state quorum nodesUp totalNodes remarks cnfsState daemonShortName"
STATE_ADDED = {"5.1": "", "5.2": " daemonNodeName", "6.0": " daemonNodeName"}

FLAPS_AFTER = 2
"""Looks at an active daemon that flaps, until it is down."""


def mmgetstate(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> None:
    """Print daemon states. A client under central administration sees only itself, and `unknown` for all with -a."""
    names = cluster.select(given.get("-N"), "-a" in given)
    blind = cluster.me not in cluster.state["admin_nodes"]
    states = {}
    for name in names:
        asked_afar = blind and (name != cluster.me or "-a" in given)
        states[name] = "unknown" if asked_afar or not cluster.manageable(name) else _poll(cluster, name)
    rows = [_state_row(cluster, name, state) for name, state in states.items()]
    if "-Y" in given:
        names_of_version = STATE + STATE_ADDED[cluster.state["version"]]
        print(header("mmgetstate", "", names_of_version))
        width = len(names_of_version.split())
        print(*(row("mmgetstate", "", fields[:width]) for fields in rows), sep="\n")
        return
    print(*_state_table(rows, long="-L" in given), sep="\n")
    if "-s" in given:
        print(*_summary(cluster, states), sep="\n")


def _poll(cluster: Cluster, name: str) -> str:
    """Look at a daemon once; one that starts gets on by being looked at, and one that flaps ends."""
    daemon, patience = cluster.state["daemons"][name], cluster.state["arbitrating_polls"]
    seen = daemon["state"]
    if seen != "down" and cluster.state["quorum_lost"]:
        return "arbitrating"
    if seen == "arbitrating":
        daemon["polls"] += 1
        if daemon["polls"] > patience:
            daemon["state"] = "active"
    elif seen == "active" and name in cluster.state["flapping"]:
        daemon["polls"] += 1
        if daemon["polls"] > patience + FLAPS_AFTER:
            daemon["state"] = "down"
    return str(daemon["state"])


def _state_row(cluster: Cluster, name: str, state: str) -> list[Any]:
    node = cluster.nodes[name]
    short = name.partition(".")[0]
    counts = (_quorum(cluster), _up(cluster), len(cluster.nodes)) if state in ("active", "arbitrating") else (0, 0, 0)
    remarks = "quorum node" if "quorum" in node["designation"] else ""
    return [short, node["number"], state, *counts, remarks, "(undefined)", short, node["daemon"]]


def _quorum(cluster: Cluster) -> int:
    return sum("quorum" in node["designation"] for node in cluster.nodes.values()) // 2 + 1


def _up(cluster: Cluster) -> int:
    return sum(daemon["state"] == "active" for daemon in cluster.state["daemons"].values())


def _state_table(rows: list[list[Any]], *, long: bool) -> Iterable[str]:
    yield ""
    if not long:
        yield from (" Node number  Node name        GPFS state  ", "-" * 43)
        yield from (f"{fields[1]:>8}      {fields[0]:<17}{fields[2]}" for fields in rows)
        return
    yield from (" Node number  Node name       Quorum  Nodes up  Total nodes  GPFS state  Remarks    ", "-" * 84)
    for name, number, state, quorum, up, total, remarks, *_ in rows:
        yield f"{number:>8}      {name:<16}{quorum:>4}{up:>9}{total:>11}       {state:<12}{remarks}".rstrip()


def _summary(cluster: Cluster, states: dict[str, str]) -> Iterable[str]:
    quorum_nodes = [name for name, node in cluster.nodes.items() if "quorum" in node["designation"]]
    active = [name for name, state in states.items() if state == "active"]
    yield from ("", " Summary information ", "-" * 21)
    for label, count in (
        ("Number of nodes defined in the cluster:", len(cluster.nodes)),
        ("Number of local nodes active in the cluster:", len(active)),
        ("Number of remote nodes joined in this cluster:", 0),
        ("Number of quorum nodes defined in the cluster:", len(quorum_nodes)),
        ("Number of quorum nodes active in the cluster:", len(set(active) & set(quorum_nodes))),
    ):
        yield f"{label:<51}{count}"
    yield f"Quorum = {_quorum(cluster)}, Quorum achieved"


def mmstartup(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> int:
    """Start daemons and return before they are active."""
    names = targets(cluster, given)
    unlicensed = [name for name in names if cluster.nodes[name]["license"] == "none"]
    if unlicensed:
        raise Failed("The following nodes have no GPFS license designation:\n\t" + "\n\t".join(unlicensed))
    print(dated(cluster.now(), "mmstartup: Starting GPFS ..."))
    rc = 0
    for name in cluster.half(names):
        daemon = cluster.state["daemons"][name]
        if not cluster.reachable(name):
            print(f"{name}:  The node cannot be reached.", file=sys.stderr)
            rc = 1
        elif daemon["state"] != "down":
            print(f"{name}:  The GPFS subsystem is already active.")
        elif name != cluster.me or not cluster.modules_missing():
            cluster.start(name)
            if name in cluster.state["pushes"]:
                cluster.state["pushes"][name] = 0  # no daemon starts before its configuration is there
    if cluster.effect == DRIFT:
        cluster.state["daemons"][names[-1]].update(state="down")
    return rc


def mmshutdown(cluster: Cluster, given: dict[str, str], _rest: list[str]) -> None:
    """Stop daemons; file systems in use are unmounted by force."""
    names = targets(cluster, given)
    print(dated(cluster.now(), "mmshutdown: Starting force unmount of GPFS file systems"))
    for name in cluster.half(names):
        for device, mounted in cluster.state["mounts"].items():
            if name in mounted:
                print(f"{name}:  forced unmount of {mounted[name]['path']}")
                act_on(cluster, name, "umount", device, True)
    print(dated(cluster.now(), "mmshutdown: Shutting down GPFS daemons"))
    for line in ("Shutting down!", "'shutdown' command about to kill process 4280", "Unloading module mmfslinux"):
        say(f"{name}:  {line}" for name in names if cluster.state["daemons"][name]["state"] != "down")
    for name in cluster.half(names):
        cluster.state["daemons"][name].update(state="down", polls=0)
    if cluster.effect == DRIFT:
        cluster.state["daemons"][names[-1]].update(state="active")
    print(dated(cluster.now(), "mmshutdown: Finished"))


def targets(cluster: Cluster, given: dict[str, str]) -> list[str]:
    """Return the nodes to act on; work on other nodes is for admin nodes."""
    cluster.require_member()
    names = cluster.select(given.get("-N"), "-a" in given)
    if names != [cluster.me]:
        cluster.require_admin()
    return names


def act_on(cluster: Cluster, name: str, action: str, *arguments: object) -> tuple[int, list[str]]:
    """Do work on this host at once, or ask another host's daemon for it."""
    if name != cluster.me:
        cluster.request(name, action, *arguments)
        return 0, []
    return _work(cluster, action, arguments)


def _work(cluster: Cluster, action: str, arguments: Iterable[Any]) -> tuple[int, list[str]]:
    return (cluster.mount_here if action == "mount" else cluster.unmount_here)(*arguments)


def mmfsd() -> int:
    """Run as this host's daemon until killed: take note of the boot, mount what starts with it, serve other hosts.

    The daemon looks at the state file five times a second. It reads the file when that changed or when five seconds
    have passed, to notice a file system that was unmounted by hand.
    """
    seen, checked = 0, 0.0
    while True:
        shared = device_here()
        changed = _changed_at(shared)
        if changed != seen or time.monotonic() - checked > 5:
            with shared.state(default_state(founder_here())) as state:
                _serve(Cluster(state, shared, "mmfsd"))
            seen, checked = changed, time.monotonic()
        time.sleep(0.2)


def device_here() -> Device:
    """Return the device of the cluster that this host has on its disk; nsd1's if it has none."""
    return cluster_device(founder_here())


def _changed_at(shared: Device) -> int:
    try:
        return (shared.directory / "state.json").stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _serve(cluster: Cluster) -> None:
    cluster.arrive(by_command=False)
    daemon = cluster.state["daemons"].get(cluster.me, {})
    if daemon.get("automount") and _poll(cluster, cluster.me) == "active":
        del daemon["automount"]
        known = {name: (it["mount_point"], it["automatic"]) for name, it in cluster.state["filesystems"].items()}
        known |= {name: (it["mount"], it["automount"]) for name, it in cluster.state["remote_filesystems"].items()}
        for device, (path, automatic) in known.items():
            if automatic == "yes":
                cluster.mount_here(device, path, "RW")
    for request in list(cluster.state["requests"].values()):
        if request["node"] == cluster.me and "rc" not in request:
            request["rc"], request["lines"] = _work(cluster, request["action"], request["arguments"])
