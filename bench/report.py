# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the report adds to a run: `python -m bench.report`. Needs no lab. Writes bench/measured/report.md.

Tasks that predict steps run on hosts that are all this machine, with the report and without it, in turns. The modules
do next to nothing, so the report's share of a real run is smaller.
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

HOSTS, TASKS, TURNS = 20, 5, 5
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


def one_run(folder: Path, reports: bool) -> float:
    """Processor seconds of one run. Leaves with its output when it fails."""
    argv = [
        sys.executable,
        "-m",
        "ansible",
        "playbook",
        "--check",
        "-i",
        str(folder / "hosts.yml"),
        str(folder / "play.yml"),
    ]
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(folder / "none.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(ROOT / "collections"),
    }
    if reports:
        env |= {
            "ANSIBLE_CALLBACKS_ENABLED": "drawbridge.drawbridge.report",
            "DRAWBRIDGE_REPORT_HTML": str(folder / "page.html"),
        }
    begun = cpu_of_children()
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode or reports != ("steps to make" in done.stdout):
        sys.exit(f"{done.stdout[-2000:]}{done.stderr[-2000:]}the run failed")
    return cpu_of_children() - begun


def main() -> None:
    """Measure in turns, so that an hour of the machine is the same for both."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        local = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        hosts = {f"n{number:02}": local for number in range(HOSTS)}
        (folder / "hosts.yml").write_text(json.dumps({"all": {"hosts": hosts}}))
        (folder / "none.cfg").touch()
        (folder / "play.yml").write_text(PLAY)
        pairs = [(one_run(folder, False), one_run(folder, True)) for _ in range(TURNS)]
    bare, reported = (statistics.median(values) for values in zip(*pairs, strict=True))
    share = 100 * (reported - bare) / bare
    setting = f"{HOSTS} hosts with {TASKS} tasks each, which predict steps; medians of {TURNS} turns."
    table = "| processor seconds without it | with it | added |\n|---|---|---|"
    row = f"| {bare:.2f} | {reported:.2f} | {share:.1f} % |"
    text = f"# What the report adds to a run\n\nMade by `python -m bench.report`: {setting}\n\n{table}\n{row}\n"
    store("report", {"pairs": pairs}, text)


if __name__ == "__main__":
    main()
