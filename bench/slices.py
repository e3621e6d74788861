# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a slice of the node tier costs its execution host: `python -m bench.slices`, 5 minutes.

`node_tier.yml` visits 192 nodes, then a third of them with the inventory of a slice. No host exists: a stand-in for ssh
answers that nothing had to be done. Processor time of a real ssh and of the answers of real nodes would make the
slice's share smaller. Writes bench/measured/slices.md. Ends with 1 above the goal.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.budgets import goal
from bench.inventory import ANSWER, StandIn, inventory
from bench.nodes import timed
from bench.results import store

ROUNDS, NODES, SLICES = 2, 192, 3
SHARE = "a third of the nodes as a slice, part of the processor time of all"
SSH = """#!/bin/sh
echo "$*" >> {log}
cat > /dev/null
echo '{answer}'
"""
LAYERS = 5
"""Of a node of this site, which has Slurm alone. More layers would make the slice's share smaller."""
ANSWERS = {**ANSWER, "layers": [{"state": "done", "result": ANSWER}] * LAYERS}
KEY = {"slurm_node_munge_key": "YQ=="}


@dataclass(frozen=True)
class Cost:
    """Processor seconds of the machine that runs Ansible."""

    all: float
    slice: float


def visit(ssh: StandIn, place: Path) -> float:
    """Processor seconds of one run over the inventory's nodes."""
    words = ("-i", str(place), "playbooks/node_tier.yml", "-e", json.dumps(KEY))
    return timed(lambda: ssh.play(0, *words)).cpu


def third(place: Path, folder: Path) -> Path:
    """The inventory of a slice: the whole intent, and a third of the nodes without any other host."""
    part = inventory(folder, NODES)
    content = json.loads((place / "hosts.yml").read_text())
    nodes = {"nodes": {"hosts": {f"gpu[00001:{NODES // SLICES:05}]": None}}}
    (part / "hosts.yml").write_text(json.dumps({"all": {**content["all"], "children": nodes}}))
    return part


def page(cost: Cost, load: float) -> str:
    """The table as Markdown."""
    lines = [
        "# Slices of the node tier",
        "",
        f"Made by `python -m bench.slices`, mean of {ROUNDS} rounds: CPU seconds of the machine that runs Ansible. A",
        f"stand-in for ssh answers at once. The load average was {load:.1f} on {os.cpu_count()} cores.",
        "",
        "| nodes | CPU seconds |",
        "|---|---|",
        f"| all {NODES} | {cost.all:.1f} |",
        f"| a slice of {NODES // SLICES} | {cost.slice:.1f} |",
        "",
        f"A slice costs {cost.slice / cost.all:.2f} of what all cost; at most {goal(SHARE):g} is wanted.",
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure in turns, so that what else the machine does meets both alike."""
    with tempfile.TemporaryDirectory(prefix="slices") as name:
        folder = Path(name)
        ssh, place = StandIn.make(folder), inventory(folder / "all", NODES)
        ssh.program.write_text(SSH.format(log=ssh.log, answer=json.dumps(ANSWERS)))
        part = third(place, folder / "slice")
        rounds = [Cost(visit(ssh, place), visit(ssh, part)) for _round in range(ROUNDS)]
        asked = ssh.asked()
    if asked != {f"gpu{number:05}" for number in range(1, NODES + 1)}:
        sys.exit(f"the runs asked for {len(asked)} hosts: {', '.join(sorted(asked))[:500]}")
    cost = Cost(*(statistics.mean(getattr(it, kind) for it in rounds) for kind in ("all", "slice")))
    store("slices", asdict(cost), page(cost, os.getloadavg()[0]))
    return int(cost.slice / cost.all > goal(SHARE))


if __name__ == "__main__":
    sys.exit(main())
