# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What large inventories cost, and whom onboarding contacts there: `python -m bench.inventory`, 10 minutes.

Inventories of 1,000 and 10,000 nodes. No host exists: a stand-in for ssh notes the host of each call. `check.yml` loads
inventory and intent and compares them. `onboard.yml` gets 16 nodes. The stand-in answers for the controller that
nothing had to be done, and refuses the nodes. So the run ends when it has tried to visit all 16. Writes
bench/measured/inventory.md. Ends with 1 above a goal, or if other hosts were called.

An expansion that makes as many accounts as there are nodes is loaded in this process: Drawbridge ships none yet.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import compose
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Account, Slurm

from bench.budgets import goal
from bench.counted import ROOT
from bench.memory import Peak
from bench.nodes import timed
from bench.results import store
from bench.sixteen import ANSIBLE
from bench.slurm_scale import LARGE, SMALL, site

ROUNDS, SIZES, NEW = 2, (SMALL, LARGE), 16
CONTROLLER, UNREACHABLE = "ctl", 4
LOADED = "inventory and intent of 10,000 nodes, CPU seconds"
MEMORY = "a run with 10,000 nodes in its inventory, MiB"
RATIO = "onboarding into 10,000 nodes, times that into 1,000"
SSH = """#!/bin/sh
echo "$*" >> {log}
cat > /dev/null
case " $* " in *" {controller} "*) echo '{answer}' ;; *) exit 255 ;; esac
"""
ANSWER = {"changed": False, "steps": [], "pending": [], "use": {}, "content": "YQ=="}
"""Enough for all modules that the controller's tasks run."""


@dataclass(frozen=True)
class Cost:
    """Processor seconds of a check and of an onboarding up to the visit of the nodes, and the memory of the latter."""

    check: float
    onboard: float
    mib: float


def inventory(folder: Path, count: int) -> Path:
    """Write an inventory of so many nodes, without parts that need other systems."""
    slurm, nodes = site(count)
    partitions = [{**partition, "gate": False} for partition in slurm["partitions"]]
    nodes["classes"]["h100"]["reserved_cpus"] = "0-3,112-115"
    groups = {"controllers": CONTROLLER, "login": "login1", "nodes": f"gpu[00001:{count:05}]"}
    children: dict[str, Any] = {name: {"hosts": {hosts: None}} for name, hosts in groups.items()}
    children |= {name: {} for name in ("accounting", "storage_admins", "infra", "switches")}
    intent = {"drawbridge_nodes": {**nodes, "os": "debian-13"}, "drawbridge_slurm": {**slurm, "partitions": partitions}}
    (folder / "group_vars").mkdir(parents=True)
    (folder / "hosts.yml").write_text(json.dumps({"all": {"children": children}}))
    (folder / "group_vars/all.yml").write_text(json.dumps({**intent, "ansible_python_interpreter": "/usr/bin/python3"}))
    return folder


@dataclass(frozen=True)
class StandIn:
    """The stand-in for ssh, and the file in which it notes the host of each call."""

    program: Path
    log: Path

    @classmethod
    def make(cls, folder: Path) -> StandIn:
        """Write it."""
        made = cls(folder / "ssh", folder / "asked")
        made.log.touch()
        made.program.write_text(SSH.format(log=made.log, controller=CONTROLLER, answer=json.dumps(ANSWER)))
        made.program.chmod(0o755)
        return made

    def asked(self) -> set[str]:
        """All hosts that ssh was called for."""
        return set(re.findall(r"(\S+) /bin/sh ", self.log.read_text()))

    def play(self, code: int, *words: str) -> None:
        """Run ansible-playbook. Leaves with its output if it ends with another code."""
        env = {**os.environ, "ANSIBLE_CONFIG": "ansible.cfg", "ANSIBLE_SSH_EXECUTABLE": str(self.program)}
        done = subprocess.run([ANSIBLE, *words], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        if done.returncode != code:
            sys.exit(f"{done.stdout[-3000:]}{done.stderr[-3000:]}ended with {done.returncode} instead of {code}")


def measured(ssh: StandIn, place: Path) -> Cost:
    """One round."""
    check = timed(lambda: ssh.play(0, "-i", str(place), "playbooks/check.yml"))
    words = ("-i", str(place), "playbooks/onboard.yml", "-e", f"onboard_nodes=gpu[00001-{NEW:05}]")
    with Peak() as peak:
        onboard = timed(lambda: ssh.play(UNREACHABLE, *words))
    return Cost(check.cpu, onboard.cpu, peak.mib)


def _projects(slurm: Slurm) -> Slurm:
    """An expansion: an account, a namespace and a user for each entry."""
    made = (Account(f"p{number:05}", f"p{number:05}", users=(f"u{number:05}",)) for number in range(LARGE))
    return replace(slurm, accounts=(*slurm.accounts, *made))


def expanded(place: Path) -> float:
    """Processor seconds for loading and checking the intent of the large site with as many expanded entries."""
    content = json.loads((place / "group_vars/all.yml").read_text())
    intent = {name: value for name, value in content.items() if name.startswith("drawbridge_")}
    with patch.object(compose, "EXPANSIONS", (_projects,)):
        start = time.process_time()
        accounts = load(intent).slurm.accounts
        spent = time.process_time() - start
    if len(accounts) < LARGE:
        sys.exit(f"only {len(accounts)} accounts were made")
    return spent


def ratio(costs: Mapping[int, Cost]) -> float:
    """Onboarding into the large site, times that into the small one."""
    return costs[LARGE].onboard / costs[SMALL].onboard


def page(costs: Mapping[int, Cost], expansion: float, busy: float) -> str:
    """The table as Markdown."""
    lines = [
        "# Large inventories",
        "",
        f"Made by `python -m bench.inventory`, mean of {ROUNDS} rounds: CPU seconds of the controller, Ansible's start",
        f"included. The load average was {busy:.1f} on {os.cpu_count()} cores; a busy machine makes the numbers"
        " larger.",
        "",
        f"| nodes | inventory and intent loaded and checked | onboarding {NEW}, up to their visit | memory, MiB |",
        "|---|---|---|---|",
        *(f"| {size:,} | {cost.check:.2f} | {cost.onboard:.2f} | {cost.mib:.0f} |" for size, cost in costs.items()),
        "",
        f"Onboarding into 10,000 nodes costs {ratio(costs):.2f} times that into 1,000; at most {goal(RATIO):g} is"
        " wanted.",
        f"The memory is that of all processes of an onboarding at their highest; {goal(MEMORY):g} MiB are the limit.",
        f"Loading 10,000 nodes may take {goal(LOADED):g} s. Only the controller and the {NEW} nodes were asked for.",
        "",
        f"With {LARGE:,} accounts made by an expansion, the intent is loaded in {expansion:.2f} s, without Ansible.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure in turns, so that what else the machine does meets all alike."""
    with tempfile.TemporaryDirectory(prefix="inventory") as name:
        folder = Path(name)
        ssh, places = StandIn.make(folder), {size: inventory(folder / str(size), size) for size in SIZES}
        rounds = [{size: measured(ssh, place) for size, place in places.items()} for _round in range(ROUNDS)]
        asked, expansion = ssh.asked(), expanded(places[LARGE])
    if asked != {CONTROLLER, *(f"gpu{number:05}" for number in range(1, NEW + 1))}:
        sys.exit(f"onboarding asked for {', '.join(sorted(asked))}")
    costs = {
        size: Cost(*(statistics.mean(getattr(it[size], kind) for it in rounds) for kind in ("check", "onboard", "mib")))
        for size in SIZES
    }
    store("inventory", {size: asdict(cost) for size, cost in costs.items()}, page(costs, expansion, os.getloadavg()[0]))
    large = costs[LARGE]
    return int(large.check + expansion > goal(LOADED) or ratio(costs) > goal(RATIO) or large.mib > goal(MEMORY))


if __name__ == "__main__":
    sys.exit(main())
