# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What `drawbridge status` costs with 10,000 nodes: `python -m bench.status`. Writes bench/measured/status.md.

Needs no lab: programs named scontrol, squeue and kubectl print the files of a model. Every fourth node is drained,
every fourth has a job, and 20 runs have reports. Ends with 1 if a call takes more processor time than LIMIT_S.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.counted import ROOT
from bench.report import cpu_of_children
from bench.results import store
from roles.drawbridge_status.files.status.slurm_text import SEPARATOR

NODES, REPORTS, TURNS, LIMIT_S = 10_000, 20, 5, 2.0
CALLS = {"table": (), "JSON": ("--json",), "one partition": ("--partition", "ai-train"), "one node": ("gpu00003",)}
CODES = (0, 1, 2)
"""Levels of nodes; 3 would be a part that did not answer."""
NODE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=32 CPUAlloc=0 CPUTot=128 CPULoad=0.10 AvailableFeatures=(null) "
    "ActiveFeatures=(null) Gres=gpu:h100:8 NodeAddr={name} NodeHostName={name} Version=24.11.5 OS=Linux 6.12.48 "
    "RealMemory=2064384 AllocMem=0 FreeMem=2000000 Sockets=2 Boards=1 State={state} ThreadsPerCore=2 TmpDisk=0 "
    "Weight=1 Owner=N/A MCS_label=N/A Partitions=ai-train,hpc BootTime=2026-11-20T10:00:00 "
    "SlurmdStartTime=2026-11-20T10:01:00 CfgTRES=cpu=128,mem=2016G,billing=128,gres/gpu=8 AllocTRES= {reason}"
)
PROGRAM = """#!/bin/sh
case "$*" in *managed*) exec /bin/cat {folder}/node.txt ;; esac
exec /bin/cat {folder}/{program}.txt
"""
"""kubectl is also asked for a single node."""


def plant(folder: Path) -> None:
    """The model's files, and programs that print them."""
    names = [f"gpu{at:05d}" for at in range(NODES)]
    drained = ("IDLE+DRAIN", "Reason=new fan [ben@2026-11-25T01:02:03]")
    states = [drained if at % 4 == 3 else ("IDLE", "") for at in range(NODES)]
    lines = [NODE.format(name=name, state=state, reason=why) for name, (state, why) in zip(names, states, strict=True)]
    busy = {at: name for at, name in enumerate(names) if at % 4 == 1}
    jobs = [(str(at), "ada", "ai-train", "RUNNING", "2026-11-25T00:00:00", "(null)", it, "") for at, it in busy.items()]
    taints = [f"vision.{at}" if at in busy else "closed" for at in range(NODES)]
    rows = [
        f"{name}\t\tTrue\tdrawbridge.io/slurm={it} \t2026-11-24T20:00:00Z "
        for name, it in zip(names, taints, strict=True)
    ]
    printed = {"scontrol": lines, "squeue": [SEPARATOR.join(job) for job in jobs], "kubectl": rows}
    for program, text in printed.items():
        (folder / f"{program}.txt").write_text("\n".join(text) + "\n")
        (folder / program).write_text(PROGRAM.format(folder=folder, program=program))
        (folder / program).chmod(0o755)
    (folder / "node.txt").write_text('{"metadata": {}, "spec": {}}')
    (folder / ".kube").mkdir()
    (folder / ".kube/config").touch()
    run = {"version": 1, "check": False, "playbook": "site.yml"}
    waits = [{"kind": "pending", "hosts": f"gpu[00000-{NODES // 10:05d}]", "text": "restart mmfsd: a job runs"}]
    kept = [
        {**run, "started": f"2026-11-{day:02d}T02:00:00+00:00", "findings": waits, "names": hosts, "proved": hosts}
        for day in range(1, REPORTS + 1)
        # each run lacks other nodes, so that each hostlist is read
        for hosts in [f"gpu[00000-{NODES - 1 - day:05d}]"]
    ]
    (folder / "reports").mkdir()
    (folder / "reports/runs.json").write_text(json.dumps(kept))
    settings = {"gated": ["ai-train"], "reports": str(folder / "reports")}
    (folder / "status.json").write_text(json.dumps(settings))


def seconds(folder: Path, words: tuple[str, ...]) -> float:
    """Processor seconds of one call with its programs. Leaves with its output when it fails."""
    program = (
        "import sys; from pathlib import Path; "
        "from roles.drawbridge_status.files.status import readers_io, __main__ as it; "
        f"readers_io.site.__defaults__ = (Path('{folder}/status.json'),); sys.exit(it.main(sys.argv[1:]))"
    )
    env = {"HOME": str(folder), "PATH": str(folder), "PYTHONPATH": str(ROOT)}
    begun = cpu_of_children()
    argv = [sys.executable, "-c", program, "status", *words]
    done = subprocess.run(argv, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    if done.returncode not in CODES or "gpu0" not in done.stdout:
        sys.exit(f"{done.stdout[-2000:]}{done.stderr[-2000:]}the call failed")
    return cpu_of_children() - begun


def main() -> int:
    """Measure, store, judge."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plant(folder)
        found = {what: [seconds(folder, words) for _turn in range(TURNS)] for what, words in CALLS.items()}
    spent = {what: statistics.median(turns) for what, turns in found.items()}
    rows = "\n".join(f"| {what} | {value:.2f} |" for what, value in spent.items())
    made = f"Made by `python -m bench.status`: {NODES:,} nodes, reports of {REPORTS} runs; medians of {TURNS} calls."
    table = f"| call | processor seconds |\n|---|---|\n{rows}\n"
    store("status", found, f"# What drawbridge status costs\n\n{made}\n\n{table}")
    return 0 if max(spent.values()) < LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
