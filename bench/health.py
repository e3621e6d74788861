# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What one look of the controller of findings costs with 10,000 nodes: `PYTHONPATH=collections python -m bench.health`.

Needs no lab: a program named scontrol prints the records of a model and accepts all changes. Its own time counts, too.
Writes bench/measured/health.md. Ends with 1 if a look takes more processor time than LIMIT_S.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from bench.counted import ROOT
from bench.report import cpu_of_children
from bench.results import store

PROGRAM = ROOT / "roles/node_health/files/drawbridge-health-controller.py"
NODES, UNIT, TURNS, INTERVAL_S, LIMIT_S = 10_000, 32, 5, 30, 1.5
NODE = (
    "NodeName={name} Arch=x86_64 CoresPerSocket=56 CPUAlloc=0 CPUEfctv=224 CPUTot=224 CPULoad=0.10 "
    "AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:h100:8(S:0-1) NodeAddr={name} NodeHostName={name} "
    "Version=24.11.5 OS=Linux 6.12.48 RealMemory=2050000 AllocMem=0 FreeMem=2000000 Sockets=2 Boards=1 State=IDLE "
    "ThreadsPerCore=2 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=train,hpc BootTime=1800000000 "
    "SlurmdStartTime=1800000060 LastBusyTime=1800000060 ResumeAfterTime=None "
    "CfgTRES=cpu=224,mem=2050000M,billing=224,gres/gpu=8 AllocTRES= CurrentWatts=0 AveWatts=0{comment}"
)
SCONTROL = """#!/bin/sh
if [ "$1" = show ]; then exec /bin/cat {folder}/nodes; fi
"""
FOUND: dict[str, Callable[[int], str]] = {
    "no finding": lambda at: "",
    "findings of 50 nodes, each with its own words": lambda at: (
        f" Comment=drawbridge health: [user] /: disk space: {at} of its bytes are in use" if at % 200 == 0 else ""
    ),
    "the same finding of all nodes, which opens the breaker": lambda at: (
        " Comment=drawbridge health: GPU 0: GPU clocks: clocks are lowered: hw slowdown"
    ),
}
"""Comments of nodes by their number."""
PLACES = {
    'Path("/etc/drawbridge/health-controller.json")': 'Path("{folder}/settings.json")',
    "STORE, METRICS, RESULTS = FOLDER, exposition.METRICS,": (
        'STORE, METRICS, RESULTS = Path("{folder}/store"), Path("{folder}/metrics"),'
    ),
    'PATH = "': 'PATH = "{folder}/bin:',
}
"""Words of the program, and those of a copy that works in a folder."""


def placed(folder: Path) -> list[str]:
    """The program, its library and its settings, as the role places them; the command of a look."""
    text = PROGRAM.read_text()
    library = folder / "lib/drawbridge-health-controller/drawbridge"
    texts = {library / path: own for path, own in imported(text, source).items()}
    for before, after in PLACES.items():
        if text.count(before) != 1:
            sys.exit(f"{PROGRAM} does not have {before!r} once")
        text = text.replace(before, after.format(folder=folder))
    names = [f"gpu{at:05}" for at in range(NODES)]
    units = {f"leaf{at // UNIT:03}": f"{names[at]},gpu[{at + 1:05}-{at + UNIT - 1:05}]" for at in range(0, NODES, UNIT)}
    last = NODES - NODES % UNIT
    units[f"leaf{last // UNIT:03}"] = f"gpu[{last:05}-{NODES - 1:05}]"
    texts[folder / "sbin/drawbridge-health"] = text
    texts[folder / "settings.json"] = json.dumps({"health": asdict(Health()), "units": units, "proofs": ""})
    texts[folder / "bin/scontrol"] = SCONTROL.format(folder=folder)
    for path, own in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(own)
        path.chmod(0o755)
    return [sys.executable, "-IS", str(folder / "sbin/drawbridge-health"), "tend"]


def look(argv: list[str], folder: Path) -> float:
    """Processor seconds of one look with its programs. Leaves with its output when it fails."""
    begun = cpu_of_children()
    environment = {**os.environ, "RUNTIME_DIRECTORY": str(folder / "cache")}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or "silent" in done.stderr or not (folder / "store").is_dir():
        sys.exit(f"{done.stdout[-2000:]}{done.stderr[-2000:]}the look failed")
    return cpu_of_children() - begun


def measured(comment: Callable[[int], str]) -> list[float]:
    """Processor seconds of looks at nodes with these comments, apart from the first one."""
    with tempfile.TemporaryDirectory(prefix="health-") as name:
        folder = Path(name)
        argv = placed(folder)
        lines = [NODE.format(name=f"gpu{at:05}", comment=comment(at)) for at in range(NODES)]
        (folder / "nodes").write_text("\n".join(lines) + "\n")
        look(argv, folder)
        return [look(argv, folder) for _turn in range(TURNS)]


def main() -> int:
    """Measure, store, judge."""
    found = {what: measured(comment) for what, comment in FOUND.items()}
    spent = {what: statistics.median(turns) for what, turns in found.items()}
    rows = [f"| {what} | {value:.2f} | {100 * value / INTERVAL_S:.1f} |" for what, value in spent.items()]
    made = f"Made by `python -m bench.health`: {NODES:,} nodes in units of {UNIT}; medians of {TURNS} looks."
    same = "scontrol only prints here and changes nothing, so each look makes all its changes again."
    head = f"| the nodes have | processor seconds of a look | % of one core, every {INTERVAL_S} s |"
    table = "\n".join([head, "|---|---|---|", *rows])
    store("health", found, f"# What the controller of findings costs\n\n{made}\n{same}\n\n{table}\n")
    return 0 if max(spent.values()) < LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
