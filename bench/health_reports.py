# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What users of the queue notice when all nodes report at once.

Run it with `PYTHONPATH=collections python -m bench.health_reports`, on a machine that does nothing else.
A real slurmctld runs in namespaces of its own, as root, without a lab. It has 1,000 nodes and 500 waiting jobs. 64
clients read and change the records of their nodes at the same moment, as Slurm starts health checks. In the meantime
squeue runs again and again. Beside them run as many clients that do not contact slurmctld: all share the processors.
To compare, clients also read their record with `scontrol show node NAME`, for which slurmctld sends the table of all
nodes. The processor time of slurmctld for one call is that of 1,000 and of 10,000 nodes.
Writes bench/measured/health_reports.md. Ends with 1 if the middle squeue is slower by LIMIT_S.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.node.own_record import LISTING

from bench.counted import ROOT
from bench.results import store
from tests.slurm_daemons import CONF as DAEMONS
from tests.slurm_daemons import SCENE, Place, unpacked

NODES, MOST, JOBS, CLIENTS, ROUNDS, TIMES, LIMIT_S = 1000, 10_000, 500, 64, 5, 200, 0.1
GUEST = ROOT / "bench/guest/health_reports.py"
CONF = f"""{DAEMONS}\
NodeName=n[1-{{nodes}}] NodeHostname=ctl NodeAddr=ctl Port=[17001-{{last}}] CPUs=4
PartitionName=train Nodes=ALL Default=YES
"""
SCRIPT = f"""
munged --force
slurmctld
for look in $(seq 600); do if scontrol ping > /dev/null 2>&1; then break; fi; sleep 0.1; done
scontrol ping
sbatch --hold --array=1-{JOBS} --output=/dev/null --wrap true
python3 -I /out/measure {CLIENTS} {{rounds}} {TIMES} > /out/found
"""
WORDS = {
    "alone": "no other client",
    "idle": f"{CLIENTS} clients that do not contact slurmctld",
    "tables": f"{CLIENTS} clients that report, and read with `scontrol show node NAME`",
    "reports": f"{CLIENTS} clients that report",
}
"""What runs beside squeue, by the guest's word for it."""
CALLS = {
    "read": [*LISTING, "--nodes="],
    "table": ["scontrol", "show", "node", ""],
    "write": ["scontrol", "update", "nodename="],
}
"""Calls of a node, which end with its name."""
COSTS = {"read": "read its record", "table": "read it with `scontrol show node NAME`", "write": "write its report"}
"""What a node does, by its call."""


@dataclass(frozen=True)
class Found:
    """What the guest measured, in seconds."""

    beside: dict[str, dict[str, list[float]]]
    """Each squeue, and each round of clients, by what runs beside squeue."""
    cost: dict[str, float]
    """slurmctld's processor time for one call."""


def measured(place: Place, folder: Path, nodes: int, rounds: int) -> Found:
    """Run the guest; without rounds it only measures what calls cost."""
    upper = folder / "upper"
    texts = {
        "etc/slurm/slurm.conf": CONF.format(nodes=nodes, last=17000 + nodes),
        "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n",
        "out/script": SCRIPT.replace("{rounds}", str(rounds)),
        "out/calls": json.dumps(CALLS),
        "out/measure": GUEST.read_text(),
    }
    for name, text in texts.items():
        (upper / name).parent.mkdir(parents=True, exist_ok=True)
        (upper / name).write_text(text)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    return Found(**json.loads((upper / "out/found").read_text()))


def page(release: str, found: Found, most: Found) -> str:
    """The table as Markdown."""
    rows = [
        f"| {words} | {1000 * statistics.median(it['squeue']):.0f} | {1000 * max(it['squeue']):.0f} |"
        f" {statistics.median(it['rounds']) if it['rounds'] else 0:.1f} |"
        for key, words in WORDS.items()
        for it in [found.beside[key]]
    ]
    lines = [
        "# All nodes report at once",
        "",
        f"Made by `python -m bench.health_reports`: Slurm {release} with {NODES} nodes and {JOBS} waiting jobs.",
        f"slurmctld and all clients share {os.cpu_count()} processors.",
        "",
        "| beside squeue | squeue, ms, the middle one | the slowest | seconds until all clients are done |",
        "|---|---|---|---|",
        *rows,
        "",
        f"| one node | slurmctld's processor time with {NODES} nodes, ms | with {MOST} nodes, ms |",
        "|---|---|---|",
        *(f"| {words} | {1000 * found.cost[key]:.1f} | {1000 * most.cost[key]:.1f} |" for key, words in COSTS.items()),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, store, judge."""
    with tempfile.TemporaryDirectory(prefix="health-reports-") as name:
        for part in ("place", "scene", "most"):
            (Path(name) / part).mkdir()
        place = unpacked(Path(name) / "place")
        found = measured(place, Path(name) / "scene", NODES, ROUNDS)
        most = measured(place, Path(name) / "most", MOST, 0)
        store("health_reports", {"found": asdict(found), "most": asdict(most)}, page(place.release, found, most))
    middle = {key: statistics.median(it["squeue"]) for key, it in found.beside.items()}
    return 0 if middle["reports"] - middle["idle"] < LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
