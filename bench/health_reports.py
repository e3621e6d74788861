# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What users of the queue notice when all nodes report at once.

Run it with `PYTHONPATH=collections python -m bench.health_reports`, on a machine that does nothing else.
A real slurmctld runs in namespaces of its own, as root, without a lab. It has 1,000 nodes and 500 waiting jobs. 64
clients read and change the records of their nodes at the same moment, as Slurm starts health checks. In the meantime
squeue runs again and again. Beside them run as many clients that do not contact slurmctld: all share the processors.
Writes bench/measured/health_reports.md. Ends with 1 if the middle squeue is slower by LIMIT_S.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from bench.counted import ROOT
from bench.results import store
from tests.slurm_daemons import CONF as DAEMONS
from tests.slurm_daemons import SCENE, Place, unpacked

NODES, JOBS, CLIENTS, ROUNDS, CALLS, LIMIT_S = 1000, 500, 64, 5, 20, 0.1
GUEST = ROOT / "bench/guest/health_reports.py"
CONF = f"""{DAEMONS}\
NodeName=n[1-{NODES}] NodeHostname=ctl NodeAddr=ctl Port=[17001-{17000 + NODES}] CPUs=4
PartitionName=train Nodes=ALL Default=YES
"""
SCRIPT = f"""
munged --force
slurmctld
for look in $(seq 600); do if scontrol ping > /dev/null 2>&1; then break; fi; sleep 0.1; done
scontrol ping
sbatch --hold --array=1-{JOBS} --output=/dev/null --wrap true
python3 -I /out/measure {CLIENTS} {ROUNDS} {CALLS} > /out/found
"""
WORDS = {
    "alone": "no other client",
    "idle": f"{CLIENTS} clients that do not contact slurmctld",
    "reports": f"{CLIENTS} clients that report",
}
"""What runs beside squeue, by the guest's word for it."""
Found = dict[str, list[float]]


def measured(place: Place, folder: Path) -> dict[str, Found]:
    """Seconds of each squeue, and of each round of clients, by what runs beside squeue."""
    upper = folder / "upper"
    texts = {
        "etc/slurm/slurm.conf": CONF,
        "etc/slurm/cgroup.conf": "CgroupPlugin=disabled\n",
        "out/script": SCRIPT,
        "out/measure": GUEST.read_text(),
    }
    for name, text in texts.items():
        (upper / name).parent.mkdir(parents=True, exist_ok=True)
        (upper / name).write_text(text)
    for name in ("root", "work"):
        (folder / name).mkdir()
    place.run(SCENE, SCENE=folder)
    found: dict[str, Found] = json.loads((upper / "out/found").read_text())
    return found


def page(release: str, found: dict[str, Found]) -> str:
    """The table as Markdown."""
    rows = [
        f"| {words} | {1000 * statistics.median(it['squeue']):.0f} | {1000 * max(it['squeue']):.0f} |"
        f" {statistics.median(it['rounds']) if it['rounds'] else 0:.1f} |"
        for key, words in WORDS.items()
        for it in [found[key]]
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
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measure, store, judge."""
    with tempfile.TemporaryDirectory(prefix="health-reports-") as name:
        for part in ("place", "scene"):
            (Path(name) / part).mkdir()
        place = unpacked(Path(name) / "place")
        found = measured(place, Path(name) / "scene")
        store("health_reports", found, page(place.release, found))
    middle = {key: statistics.median(it["squeue"]) for key, it in found.items()}
    return 0 if middle["reports"] - middle["idle"] < LIMIT_S else 1


if __name__ == "__main__":
    sys.exit(main())
