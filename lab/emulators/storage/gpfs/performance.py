# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a node's daemon counts, and which of its threads wait: mmpmon and mmdiag --waiters.

Both work on this node alone, and while its daemon runs. Unlike the mm* scripts, mmpmon needs root to read.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...common import LIE
from . import config
from .model import Cluster, Failed
from .text import header, row

if TYPE_CHECKING:
    from collections.abc import Iterable

COUNTERS = {
    "_br_": "bytes read",
    "_bw_": "bytes written",
    "_oc_": "opens",
    "_cc_": "closes",
    "_rdc_": "reads",
    "_wc_": "writes",
    "_dir_": "readdir",
    "_iu_": "inode updates",
}
"""Keywords of fs_io_s in the order of the answer, with their words for people."""
WAITERS = (
    "threadId threadAddr threadName waitStartTime waitTime isMonitored condVarAddr condVarName condVarReason"
    " mutexAddr mutexName auxReason delayTime delayReason"
)
PROMPT = "mmpmon> "
NO_ANSWER = "Unexpected mmpmon response from file system daemon."
"""Message 6027-2702. Acting out `lie`, mmpmon prints it and ends with 0."""


def mmpmon(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Answer requests of a file (-i) or of the standard input, one a line. -p: as pairs of keyword and value."""
    if os.geteuid() != 0:
        raise Failed("This command can only be run by the root user.")
    if rest:
        raise Failed("Incorrect option.", "Usage: mmpmon [-i CommandFile] [-p] [-s]")
    text = Path(given["-i"]).read_text() if "-i" in given else sys.stdin.read()
    if cluster.effect == LIE:
        print(f"mmpmon: {NO_ANSWER}", file=sys.stderr)
        return
    _require_daemon(cluster)
    for request in text.splitlines():
        words = request.split()
        if not words or words[0].startswith("#"):
            continue
        if "-s" not in given and "-i" not in given:
            print(PROMPT, end="", file=sys.stderr)
        if words != ["fs_io_s"]:
            raise Failed(f"Unrecognized request: {request.strip()}")
        print(*_answers(cluster, pairs="-p" in given), sep="\n")


def _require_daemon(cluster: Cluster) -> None:
    state = cluster.state["daemons"][cluster.me]["state"]
    if state == "down":
        raise Failed("Failed to connect to file system daemon: Connection refused")
    if state != "active":
        raise Failed("The mmfsd daemon is not ready to handle commands yet. Waiting for quorum.")


def _answers(cluster: Cluster, *, pairs: bool) -> Iterable[str]:
    """One answer for each mounted file system; one with return code 1 if none is mounted."""
    ip, now = cluster.nodes[cluster.me]["ip"], cluster.now()
    seconds, micro = int(now), int(now % 1 * 1e6)
    mounted = [device for device, where in cluster.state["mounts"].items() if cluster.me in where]
    start = f"_fs_io_s_ _n_ {ip} _nn_ {cluster.me} _rc_ {0 if mounted else 1} _t_ {seconds} _tu_ {micro}"
    if not mounted:
        people = [f"mmpmon node {ip} name {cluster.me} fs_io_s status 1", "no file systems mounted"]
        yield from [f"{start} _cl_ - _fs_ -"] if pairs else people
    for device in mounted:
        remote = cluster.state["remote_filesystems"].get(device, {"cluster": cluster.state["name"], "remote": device})
        counted = _counted(cluster, device)
        if pairs:
            values = " ".join(f"{keyword} {value}" for keyword, value in counted.items())
            yield f"{start} _cl_ {remote['cluster']} _fs_ {remote['remote']} _d_ 2 {values}"
            continue
        yield f"mmpmon node {ip} name {cluster.me} fs_io_s OK"
        shown = {"cluster": remote["cluster"], "filesystem": remote["remote"], "disks": 2}
        shown |= {"timestamp": f"{seconds}/{micro}", **{COUNTERS[keyword]: value for keyword, value in counted.items()}}
        yield from (f"{name + ':':<15} {value}" for name, value in shown.items())


def _counted(cluster: Cluster, device: str) -> dict[str, int]:
    """Counters of this node, by the state's `io`: each has a value at a time, and what it gains in a second."""
    known: dict[str, Any] = cluster.state.get("io", {}).get(cluster.me, {}).get(device, {})
    counted = {}
    for keyword in COUNTERS:
        value, gain, since = known.get(keyword, (0, 0, 0))
        counted[keyword] = int(value + gain * max(0.0, cluster.now() - since))
    return counted


def mmdiag(cluster: Cluster, given: dict[str, str], rest: list[str]) -> None:
    """Print threads that wait, longest first; with other options what `config` knows."""
    if rest or "--waiters" not in given:
        config.mmdiag(cluster, given, rest)
        return
    if cluster.state["daemons"][cluster.me]["state"] == "down":
        raise Failed("The GPFS daemon is not running on this node.")
    waiting = sorted(cluster.state.get("waiters", {}).get(cluster.me, []), key=lambda it: -it[1])
    if "-Y" not in given:
        print("", "=== mmdiag: waiters ===", sep="\n")
        for number, (name, seconds, reason) in enumerate(waiting):
            print(f"Waiting {seconds:.4f} sec since {_since(cluster, seconds)[11:-5]}, monitored, ", end="")
            print(f"thread {4000 + number} {name}: {reason}")
        return
    print(header("mmdiag", "waiters", WAITERS))
    for number, (name, seconds, reason) in enumerate(waiting):
        thread = (4000 + number, f"{0xF57FC500 + number:016X}", name, _since(cluster, seconds), f"{seconds:.4f}")
        print(row("mmdiag", "waiters", (*thread, "monitored", *[""] * 5, reason, "", "")))


def _since(cluster: Cluster, seconds: float) -> str:
    return time.strftime("%Y-%m-%d_%H:%M:%S%z", time.localtime(cluster.now() - seconds))
