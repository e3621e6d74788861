# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What drawbridge-run adds to a start: `LAB_ID=59 python -m bench.run_start`, in the lab of scenario drawbridge_run.

Starts the same program, which prints the time, on two nodes: by plain srun and in pods, inside one job a time. All of
the lab's hosts share the clock. Writes bench/measured/run_start.md.
"""

from __future__ import annotations

import os
import re
import statistics
import time
from collections.abc import Mapping, Sequence
from typing import Any

from bench.counted import on_host
from bench.results import store

TIMES = 7
HOME = "/gpfs/fs1/home/ada"
PROGRAM = "python3 -c 'import time; print(\"begun\", time.time())'"
SCRIPT = f"""#!/bin/sh
date +"batch %s.%N"
srun --ntasks-per-node=1 {PROGRAM} | sort | sed "s/^begun/srun/"
date +"called %s.%N"
drawbridge-run --image docker.io/lab/python:3 --pull never --dry-run -- true > /dev/null
date +"prepared %s.%N"
drawbridge-run --image docker.io/lab/python:3 --pull never --all-logs -- {PROGRAM}
date +"over %s.%N"
"""
PARTS = {
    "srun": "plain srun: first process on the second node",
    "prepare": "drawbridge-run reads its surroundings and makes the manifest (a dry run)",
    "pods": "from then until Kubernetes' pods run, as drawbridge-run says",
    "pod": "drawbridge-run: first process in the pod of the second node",
    "after": "from that process, which ends at once, to the end of drawbridge-run",
}


def one_job() -> str:
    """Output of one job."""
    options = f"-N2 -p ai-train --gres=gpu:h100:8 --time=10 --wait --chdir={HOME} --output={HOME}/start.out"
    on_host("ctl", f"cd /; runuser -u ada -- sbatch {options}", SCRIPT.encode())
    return on_host("gpu01", f"cat {HOME}/start.out")


def parts(text: str) -> dict[str, float]:
    """Seconds of every part, by what a job wrote."""
    at = {
        key: [float(value) for value in re.findall(rf"\b{key} ([0-9.]+)", text)] for key in ("batch", "srun", "begun")
    }
    called, prepared, over = (float(re.findall(rf"{key} ([0-9.]+)", text)[0]) for key in ("called", "prepared", "over"))
    said = re.findall(r"all pods run, ([0-9.]+) s after", text)
    return {
        "srun": max(at["srun"]) - at["batch"][0],
        "prepare": prepared - called,
        "pods": float(said[0]) if said else max(at["begun"]) - prepared,
        "pod": max(at["begun"]) - prepared,
        "after": over - max(at["begun"]),
    }


def summary(runs: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
    """Median, best and worst of every part."""
    rows = []
    for key, what in PARTS.items():
        values = [run[key] for run in runs]
        rows.append({"part": key, "what": what, "median_s": round(statistics.median(values), 2)})
        rows[-1] |= {"best_s": round(min(values), 2), "worst_s": round(max(values), 2)}
    return rows


def page(rows: Sequence[Mapping[str, Any]], loads: Sequence[float]) -> str:
    """The table as Markdown. `loads` are the machine's load averages when the jobs began."""
    lines = [f"| {row['what']} | {row['median_s']} | {row['best_s']} | {row['worst_s']} |" for row in rows]
    head = "# What drawbridge-run adds to a start\n\nMade by `python -m bench.run_start`: seconds, two nodes, "
    table = "| part | median | best | worst |\n|---|---|---|---|"
    machine = f"The machine's {os.cpu_count()} cores had a load average of {min(loads):.1f} to {max(loads):.1f}."
    return f"{head}{len(loads)} jobs, the image on the nodes already.\n{machine}\n\n{table}\n" + "\n".join(lines) + "\n"


def main() -> None:
    """Run the jobs and store their times."""
    runs, loads = [], []
    for _ in range(TIMES):
        loads.append(round(os.getloadavg()[0], 1))
        runs.append(parts(one_job()))
        time.sleep(1)
    rows = summary(runs)
    store("run_start", {"cores": os.cpu_count(), "load_averages": loads, "parts": rows}, page(rows, loads))


if __name__ == "__main__":
    main()
