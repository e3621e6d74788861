# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What metrics of GPFS cost a node: `PYTHONPATH=collections python -m bench.node_metrics`, 10 seconds, no lab.

Runs the program of role telemetry as its unit does, with mm* commands that only print. What Storage Scale's own
commands cost is not known here. Writes bench/measured/node_metrics.md. Ends with 1 above half a percent of one core.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.visit_source_io import source
from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.program_imports import imported

from bench.counted import ROOT
from bench.results import store

PROGRAM = ROOT / "roles/telemetry/files/drawbridge-gpfs-metrics.py"
TRANSCRIPTS = ROOT / "tests/transcripts/storage/gpfs"
INTERVAL_S, RUNS, AT_MOST = 60, 20, 0.5
ANSWERS = {"mmpmon": "mmpmon_fs_io_s.txt", "mmdiag": "mmdiag_waiters_y.txt"}
"""Of two file systems, and seven waiting threads."""


def placed(folder: Path) -> list[str]:
    """The program and its commands on a node; the command line."""
    program, library = folder / "sbin/drawbridge-gpfs-metrics", folder / "lib/drawbridge-gpfs-metrics/drawbridge"
    texts = {library / path: text for path, text in imported(PROGRAM.read_text(), source).items()}
    texts |= {folder / "mm" / name: f"#!/bin/sh\nexec cat {TRANSCRIPTS / file}\n" for name, file in ANSWERS.items()}
    filesystems = [{"device": name, "mount": f"/fs/{name}"} for name in ("scratch", "project")]
    texts[folder / "gpfs.json"] = json.dumps({"mm_path": f"{folder}/mm", "filesystems": filesystems})
    for path, text in {program: PROGRAM.read_text(), **texts}.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return ["/usr/bin/python3", "-IS", str(program), f"--place={folder}/gpfs.json", f"--metrics={folder}/metrics"]


def measured() -> float:
    """CPU seconds of one run."""
    with tempfile.TemporaryDirectory(prefix="node-metrics-") as name:
        argv = placed(Path(name))
        subprocess.run(argv, check=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        for _turn in range(RUNS):
            subprocess.run(argv, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / RUNS


def main() -> int:
    """Measure and store."""
    seconds = measured()
    percent = 100 * seconds / INTERVAL_S
    lines = [
        "# Metrics of GPFS on a node",
        "",
        f"Made by `python -m bench.node_metrics`: {RUNS} runs. Its commands only print, as those of no real cluster.",
        f"{os.cpu_count()} processors; the load average was {os.getloadavg()[0]:.1f}.",
        "",
        f"| CPU ms a run | % of one core, every {INTERVAL_S} s |",
        "|---|---|",
        f"| {1000 * seconds:.0f} | {percent:.2f} |",
    ]
    store("node_metrics", {"seconds": seconds}, "\n".join(lines) + "\n")
    return int(percent > AT_MOST)


if __name__ == "__main__":
    sys.exit(main())
