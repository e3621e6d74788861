# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs beside a slurmctld of bench/health_reports.py: how long squeue takes while many clients report at once."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

ROUND_S = 120.0
TEXT = "drawbridge health: [user] /: disk space: {} of its bytes are in use"


def run(*argv: str) -> float:
    """Seconds that a command takes. Leaves with its output when it fails."""
    begun = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, timeout=ROUND_S, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return time.monotonic() - begun


def client(kind: str, number: int, turn: int) -> None:
    """What a node does: it reads its record, and writes its report. Idle clients start the same programs."""
    if kind == "idle":
        run("scontrol", "--version")
        run("scontrol", "--version")
        return
    run("scontrol", "show", "node", f"n{number}")
    run("scontrol", "update", f"nodename=n{number}", f"comment={TEXT.format(turn)}")


def beside(kind: str, clients: int, turn: int) -> tuple[list[float], float]:
    """Seconds of each squeue until all clients are done, and of the whole round."""
    failed: list[SystemExit] = []

    def work(number: int) -> None:
        try:
            client(kind, number, turn)
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


def main(clients: int, rounds: int, calls: int) -> None:
    """Print the measured values."""
    shown: dict[str, dict[str, list[float]]] = {
        "alone": {"squeue": [run("squeue", "--noheader") for _call in range(calls)], "rounds": []}
    }
    for kind in ("idle", "reports"):
        turns = [beside(kind, clients, turn) for turn in range(rounds)]
        shown[kind] = {"squeue": [it for some, _whole in turns for it in some], "rounds": [it[1] for it in turns]}
    known = subprocess.run(["scontrol", "show", "node", f"n{clients}"], capture_output=True, text=True, check=True)
    if TEXT.format(rounds - 1) not in known.stdout:
        raise SystemExit(f"the last report is not in its record: {known.stdout}")
    print(json.dumps(shown))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
