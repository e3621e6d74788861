# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs beside a slurmctld of bench/health_reports.py: how long squeue takes while many clients report at once.

Before that, what each call of a node costs slurmctld. /out/calls has the calls: words before the node's name.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

ROUND_S = 120.0
TEXT = "drawbridge health: [user] /: disk space: {} of its bytes are in use"


def run(*argv: str) -> float:
    """Seconds that a command takes. Leaves with its output when it fails."""
    begun = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=ROUND_S, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return time.monotonic() - begun


def client(kind: str, number: int, turn: int, calls: dict[str, list[str]]) -> None:
    """What a node does: it reads its record, and writes its report. Idle clients start the same programs."""
    if kind == "idle":
        run("sinfo", "--version")
        run("scontrol", "--version")
        return
    *words, name = calls["read" if kind == "reports" else "table"]
    run(*words, f"{name}n{number}")
    write(calls, number, turn)


def write(calls: dict[str, list[str]], number: int, turn: int) -> None:
    """Write the report of one node."""
    *words, name = calls["write"]
    run(*words, f"{name}n{number}", f"comment={TEXT.format(turn)}")


def processor_s() -> float:
    """Processor time of slurmctld so far (proc_pid_stat(5))."""
    number = Path("/run/slurmctld.pid").read_text().strip()
    user, system = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def costs(calls: dict[str, list[str]], number: int, times: int) -> dict[str, float]:
    """Seconds of slurmctld's processor time for each call of one node, one after the other."""
    found: dict[str, float] = {}
    for kind, (*words, name) in calls.items():
        begun = processor_s()
        for turn in range(times):
            if kind == "write":
                write(calls, number, turn)
            else:
                run(*words, f"{name}n{number}")
        found[kind] = (processor_s() - begun) / times
    return found


def beside(kind: str, clients: int, turn: int, calls: dict[str, list[str]]) -> tuple[list[float], float]:
    """Seconds of each squeue until all clients are done, and of the whole round."""
    failed: list[SystemExit] = []

    def work(number: int) -> None:
        try:
            client(kind, number, turn, calls)
        except SystemExit as err:
            failed.append(err)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, clients + 1)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    found = [run("squeue", "--noheader")]
    while any(thread.is_alive() for thread in threads):
        found.append(run("squeue", "--noheader"))
    if failed:
        raise failed[0]
    return found, time.monotonic() - begun


def main(clients: int, rounds: int, times: int) -> None:
    """Print the measured values; without rounds only what calls cost."""
    calls: dict[str, list[str]] = json.loads(Path("/out/calls").read_text())
    shown: dict[str, dict[str, list[float]]] = {
        "alone": {"squeue": [run("squeue", "--noheader") for _call in range(times)], "rounds": []}
    }
    cost = costs(calls, clients, times)
    for kind in ("idle", "tables", "reports") if rounds else ():
        turns = [beside(kind, clients, turn, calls) for turn in range(rounds)]
        shown[kind] = {"squeue": [it for some, _whole in turns for it in some], "rounds": [it[1] for it in turns]}
    known = subprocess.run(["scontrol", "show", "node", f"n{clients}"], capture_output=True, text=True, check=True)
    if TEXT.format((rounds or times) - 1) not in known.stdout:
        raise SystemExit(f"the last report is not in its record: {known.stdout}")
    print(json.dumps({"beside": shown, "cost": cost}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
