# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Daemons that a change of Slurm's configuration disturbs: `python -m bench.slurm_changes`, on slurm_node's lab.

Makes twenty changes one after another, each from the one before, while a job runs on gpu01. Systemd's InvocationIDs
tell which daemon was restarted (a reconfigure replaces the processes but not the unit's invocation), slurmctld's main
PID tells a reconfigure. Writes bench/measured/slurm_changes.md. Ends with 1 when a change disturbed more, or
less, than it has to, or the job.
"""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import (
    slurm_controller,
    slurm_node,
)

from bench.counted import ROOT, on_host
from bench.results import store

NODE = "gpu01"
PATIENCE_S = 300
RECONFIGURE, SLURMCTLD, SLURMD = "reconfigure", "restart slurmctld", "restart slurmd"


@dataclass(frozen=True)
class Change:
    """A change of drawbridge_slurm by dotted key, and all that it takes."""

    key: str
    value: Any
    takes: frozenset[str] = frozenset({RECONFIGURE})


CHANGES = (
    Change("settings.SlurmctldDebug", "verbose"),
    Change("settings.SlurmdDebug", "verbose"),
    Change("settings.SlurmdTimeout", "310"),
    Change("settings.MessageTimeout", "15"),
    Change("settings.MinJobAge", "310"),
    Change("settings.TreeWidth", "20"),
    Change("settings.MaxJobCount", "11000"),
    Change("settings.MaxArraySize", "1002"),
    Change("settings.SchedulerParameters", "bf_continue,bf_window=2880"),
    Change("settings.LaunchParameters", "ulimit_pam_adopt"),
    Change("settings.MpiDefault", "none"),
    Change("settings.EnforcePartLimits", "ALL"),
    Change("kill_wait_s", 31),
    Change("partitions.1.max_time", "2-00:00:00"),
    Change("partitions.1.nodes", "gpu[01-03]"),
    Change("topology", "none"),
    Change("topology", "tree"),
    Change("part_timeout_s", 310, frozenset()),
    Change("settings.SlurmdPort", "6828", frozenset({RECONFIGURE, SLURMD})),
    Change("settings.CommunicationParameters", "NoCtldInAddrAny", frozenset({RECONFIGURE, SLURMCTLD, SLURMD})),
)


@dataclass(frozen=True)
class Seen:
    """The daemons' identities and the job, at one moment."""

    slurmctld: str
    process: str
    slurmd: str
    job: str


def lab(name: str) -> dict[str, Any]:
    """A file of the lab's intent."""
    found: dict[str, Any] = yaml.safe_load((ROOT / f"inventories/lab/group_vars/all/{name}.yml").read_text())
    return found


def site() -> dict[str, Any]:
    """drawbridge_slurm as the lab's inventory has it."""
    return {"settings": {}, **lab("slurm")["drawbridge_slurm"]}


def changed(slurm: Mapping[str, Any], change: Change) -> dict[str, Any]:
    """The site with the change in it."""
    copied = copy.deepcopy(dict(slurm))
    *path, last = [int(word) if word.isdigit() else word for word in change.key.split(".")]
    place: Any = copied
    for word in path:
        place = place[word]
    place[last] = change.value
    return copied


def start_job() -> str:
    """A job that runs on the node as long as all this takes; its number."""
    job = on_host("ctl", f"su ada -s /bin/sh -c 'cd /tmp; sbatch --parsable -p hpc -w {NODE} --wrap \"sleep 3600\"'")
    deadline = time.monotonic() + PATIENCE_S
    while on_host("ctl", f"squeue -h -j {job} -o %T || true") != "RUNNING":
        if time.monotonic() > deadline:
            sys.exit(f"job {job} does not start")
        time.sleep(0.5)
    return job


def look(job: str) -> Seen:
    """Who runs now. The job is the same only with the same start and no restart."""
    invocation = "systemctl show --property InvocationID --value"
    shown = on_host("ctl", f"scontrol show job {job} -o").split()
    told = [word for word in shown if word.startswith(("JobState=", "StartTime=", "Restarts="))]
    pid = on_host("ctl", "systemctl show --property MainPID --value slurmctld")
    return Seen(on_host("ctl", f"{invocation} slurmctld"), pid, on_host(NODE, f"{invocation} slurmd"), " ".join(told))


def disturbed(before: Seen, after: Seen) -> frozenset[str]:
    """Changes between two states. A restarted slurmctld has a new PID anyway, so its log shows reconfigures."""
    found = set()
    if before.slurmctld != after.slurmctld:
        found.add(SLURMCTLD)
    if before.slurmd != after.slurmd:
        found.add(SLURMD)
    if before.process != after.process:
        found.add(RECONFIGURE)
    return frozenset(found)


def apply(slurm: Mapping[str, Any]) -> None:
    """Hand this site's files to controller and node as their roles do. Leaves with the output when that fails."""
    ours, nodes = part("slurm", slurm), part("nodes", lab("nodes")["drawbridge_nodes"])
    files = slurm_controller(nodes, ours, cgroups=False)["slurmctld"]
    call("ctl", "slurm_config", {"files": files, "release": ours.version})
    files = slurm_node(nodes, ours, NODE, cgroups=True)["slurmd"]
    call(NODE, "slurm_daemon", {"unit": "slurmd.service", "files": files})


def call(host: str, module: str, arguments: Mapping[str, Any]) -> None:
    """Run one of our modules on a host. Leaves with the output when it fails."""
    ansible = str(Path(sys.executable).parent / "ansible")
    words = ["-i", "inventories/lab", "-m", f"drawbridge.drawbridge.{module}", "-a", json.dumps(arguments)]
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": "ansible.cfg",
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
    }
    done = subprocess.run([ansible, host, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}{module} failed on {host}")


def page(rows: list[dict[str, Any]]) -> str:
    """The table as Markdown."""
    lines = ["| change | took | the job went on |", "|---|---|---|"]
    lines += [f"| `{row['key']}` = `{row['value']}` | {row['took']} | {row['job']} |" for row in rows]
    head = "# What a change of Slurm's configuration disturbs\n\nMade by `python -m bench.slurm_changes`."
    return f"{head}\n\n" + "\n".join(lines) + "\n"


def main() -> int:
    """Make the changes, look, store, go back, judge."""
    slurm = site()
    apply(slurm)
    job = start_job()
    rows, wrong = [], []
    try:
        for change in CHANGES:
            slurm, before = changed(slurm, change), look(job)
            apply(slurm)
            after = look(job)
            took = disturbed(before, after)
            same = after.job == before.job and "JobState=RUNNING" in after.job
            rows.append({"key": change.key, "value": change.value, "took": ", ".join(sorted(took)) or "nothing"})
            rows[-1]["job"] = "yes" if same else f"no: {after.job}"
            if took != change.takes or not same:
                wrong.append(f"{change.key}: took {sorted(took)}, has to take {sorted(change.takes)}; {after.job}")
    finally:
        on_host("ctl", f"scancel {job}")
        apply(site())
    store("slurm_changes", rows, page(rows))
    print("\n".join(wrong) or f"all {len(rows)} changes took no more than they had to")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
