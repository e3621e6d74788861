# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs on a host of the lab: opens and closes nodes by the gate's program and by the seed's scripts, and times both.

bench/gate.py puts this file beside what it needs, and starts it there with the plan as its only argument.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
AT_ONCE = 8
"""Nodes are hosts of their own; here they share one, and more would only queue."""
WIRE = Path("/sys/class/net/eth0/statistics")
ACCOUNT, NAMESPACE, PARTITION, UID, GID = "vision", "vision", "ai-train", "2001", "3001"
CENTRAL = "controller"

Json = dict[str, Any]


def environment(job: int, nodes: list[str], node: str) -> dict[str, str]:
    """What Slurm tells its scripts, and where the seed's find their cluster."""
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/root",
        "SLURM_JOB_ID": str(job),
        "SLURM_JOB_PARTITION": PARTITION,
        "SLURM_JOB_ACCOUNT": ACCOUNT,
        "SLURM_JOB_UID": UID,
        "SLURM_JOB_GID": GID,
        "SLURM_JOB_NODELIST": ",".join(nodes),
        "SLURM_JOB_OVERSUBSCRIBE": "NO",
        "SLURM_JOB_START_TIME": str(job),
        "SLURMD_NODENAME": node,
        "NAMESPACE": NAMESPACE,
        "KUBECONFIG": str(ROOT / node / "kubeconfig"),
    }


def took(argv: list[str], env: dict[str, str]) -> float:
    """Seconds that a script takes. Leaves with its words when it fails."""
    begun = time.monotonic()
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    if done.returncode or "error" in done.stderr.lower():
        raise SystemExit(f"{' '.join(argv)} {env['SLURMD_NODENAME']}: {done.stdout}{done.stderr}")
    return time.monotonic() - begun


def gate(verb: str, job: int, nodes: list[str], played: list[str]) -> list[float]:
    """One verb of the gate, on each host that is played."""
    start = ["/usr/bin/python3", "-IS", str(ROOT / "gate_launcher.py"), str(ROOT)]
    return at_once([([*start, node, verb], environment(job, nodes, node)) for node in played])


def script(name: str, job: int, nodes: list[str]) -> list[float]:
    """One of the seed's scripts, on each node."""
    return at_once([(["/bin/bash", str(ROOT / name)], environment(job, nodes, node)) for node in nodes])


def at_once(calls: list[tuple[list[str], dict[str, str]]]) -> list[float]:
    """Run them, so many at a time as there are nodes or as one host can bear."""
    if len(calls) == 1:
        return [took(*calls[0])]
    with ThreadPoolExecutor(min(AT_ONCE, len(calls))) as pool:
        return list(pool.map(lambda call: took(*call), calls))


def measured(work: Any) -> Json:
    """Wall clock, processor time of all children, bytes on the wire, each process's own seconds, and when it was."""
    before, wire, since = resource.getrusage(resource.RUSAGE_CHILDREN), on_wire(), time.time()
    begun = time.monotonic()
    each = work()
    wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "wall": wall,
        "cpu": cpu,
        "bytes": on_wire() - wire,
        "each": each,
        "since": since,
        "until": time.time(),
    }


def on_wire() -> int:
    """Bytes that this host has sent and received."""
    return sum(int((WIRE / f"{way}_bytes").read_text()) for way in ("tx", "rx"))


def life(job: int, nodes: list[str]) -> dict[str, Json]:
    """One job on these nodes, by the seed and by the gate, in turns."""
    parts = {
        "seed prolog": lambda: script("prolog.sh", job, nodes),
        "open": lambda: gate("open", job, nodes, [CENTRAL]),
        "deliver_token": lambda: gate("deliver_token", job, nodes, nodes),
        "seed epilog": lambda: script("epilog.sh", job, nodes),
        "end": lambda: gate("end", job, nodes, [CENTRAL]),
        "close": lambda: gate("close", job, nodes, nodes),
    }
    return {name: measured(work) for name, work in parts.items()}


def main(plan: Json) -> None:
    """Sizes in turns, after one life that is not measured: caches of both sides are warm then."""
    os.chdir(ROOT)
    names, job = plan["nodes"], plan["first_job"]
    life(job, names[:1])
    found = []
    for size, rounds in plan["rounds"]:
        for _ in range(rounds):
            job += 1
            found.append({"size": size, "parts": life(job, names[:size])})
    print(json.dumps(found))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
