# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the report adds to a run: `python -m bench.report`. Needs no lab. Writes bench/measured/report.md.

Tasks that predict steps run on hosts that are all this machine. The report's methods are timed in the run itself, since
two runs differ by more than it costs. The modules do next to nothing, so its share of a real run is smaller.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.counted import ROOT
from bench.results import store

HOSTS, TASKS, TURNS = 10, 4, 3
MOST_PERCENT = 3.0
PLAY = f"""
- hosts: all
  gather_facts: false
  tasks:
    - name: Predict a program
      drawbridge.drawbridge.host_files:
        name: program
        directory: /nonexistent/{{{{ item }}}}
        program: {{__main__.py: "text of {{{{ item }}}}"}}
      loop: {list(range(TASKS))}
"""


def cpu_of_children() -> float:
    """Processor seconds of all children that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def one_run(folder: Path) -> tuple[float, dict[str, float]]:
    """Processor seconds of one run, and those of its report by method. Leaves with its output when it fails."""
    argv = [sys.executable, "-m", "ansible", "playbook", "--check", "-i", "hosts.yml", "play.yml"]
    files = {f"DRAWBRIDGE_REPORT_{kind}": str(folder / kind) for kind in ("HTML", "JSON", "JUNIT", "METRICS")}
    env = {
        **os.environ,
        **files,
        "ANSIBLE_CONFIG": str(folder / "none.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
        "ANSIBLE_CALLBACK_PLUGINS": str(ROOT / "bench/callbacks"),
        "ANSIBLE_CALLBACKS_ENABLED": "report_time,drawbridge.drawbridge.report",
        "REPORT_TIME": str(folder / "time"),
    }
    begun = cpu_of_children()
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    whole = cpu_of_children() - begun
    if done.returncode or "steps to make" not in done.stdout:
        sys.exit(f"{done.stdout[-2000:]}{done.stderr[-2000:]}the run failed")
    return whole, json.loads((folder / "time").read_text())


def main() -> int:
    """Measure, store, judge."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        hosts = {f"n{number:02}": local for number in range(HOSTS)}
        (folder / "hosts.yml").write_text(json.dumps({"all": {"hosts": hosts}}))
        (folder / "none.cfg").touch()
        (folder / "play.yml").write_text(PLAY)
        turns = [one_run(folder) for _turn in range(TURNS)]
    whole = statistics.median(seconds for seconds, _methods in turns)
    own = statistics.median(sum(methods.values()) for _seconds, methods in turns)
    share = 100 * own / (whole - own)
    setting = f"{HOSTS} hosts with {TASKS} tasks each, which predict steps; medians of {TURNS} runs."
    files = "The report is printed, and written as JSON, HTML, JUnit and metrics."
    table = "| processor seconds without it | of the report | added |\n|---|---|---|"
    row = f"| {whole - own:.2f} | {own:.3f} | {share:.1f} % |"
    text = (
        f"# What the report adds to a run\n\nMade by `python -m bench.report`: {setting}\n{files}\n\n{table}\n{row}\n"
    )
    store("report", {"turns": turns}, text)
    return 0 if share < MOST_PERCENT else 1


if __name__ == "__main__":
    sys.exit(main())
