# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cost of Slurm's files on a large site: `python -m bench.slurm_scale`, against a lab whose controller is built.

Renders the files of 1,000 and 10,000 nodes, each several times in a process of its own. Hands the larger ones to a real
slurmctld on the lab's controller, in namespaces of its own and beside the lab's. Writes bench/measured/slurm_scale.md.
Ends with 1 above a goal.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.trial import trial_conf
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.view import controller_files

from bench.counted import ROOT, on_host
from bench.results import store

SMALL, LARGE = 1000, 10000
LEAF = 32
ROUNDS = 3
RATIO, SECONDS, MIB = 11.0, 5.0, 500.0
ADDRESS = "192.0.2.1"
APART = "unshare --net --mount --pid --fork --kill-child python3 -"

Measured = Mapping[str, float]


def site(count: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """drawbridge_slurm and drawbridge_nodes of so many nodes in leaves of 32."""
    gpus = {"type": "h100", "numa": [0, 0, 0, 0, 1, 1, 1, 1]}
    nics = {"netdev": "rail[0-7]", "rdma": "mlx5_[0-7]", "numa": [0, 0, 0, 0, 1, 1, 1, 1]}
    h100 = {"sockets": 2, "cores_per_socket": 56, "memory_mib": 2050000, "gpus": gpus, "nics": [nics]}
    reserved = {"reserved_cpus": "0-3", "reserved_memory_mib": 65536}
    firsts = range(1, count + 1, LEAF)
    ranges = [
        {
            "names": f"gpu[{first:05}-{min(first + LEAF - 1, count):05}]",
            "node_class": "h100",
            "leaves": f"leaf{index:03}",
        }
        for index, first in enumerate(firsts, 1)
    ]
    everything = f"gpu[00001-{count:05}]"
    partitions = [
        {"name": "ai-train", "nodes": everything, "gate": True, "default": True},
        {"name": "hpc", "nodes": everything},
    ]
    slurm = {"cluster": "large", "controller": "ctl", "partitions": partitions}
    return slurm, {"classes": {"h100": {**h100, **reserved}}, "ranges": ranges}


def files(count: int) -> dict[str, str]:
    """The controller's files, from the raw inventory on."""
    slurm, nodes = site(count)
    return controller_files(part("slurm", slurm), part("nodes", nodes), cgroups=False)


def rendered(count: int) -> Measured:
    """Seconds of processor and peak memory of one rendering; for a process that does nothing else."""
    begun = time.process_time()
    texts = files(count)
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = sum(map(len, texts.values()))
    return {"seconds": time.process_time() - begun, "peak_mib": peak_kib / 1024, "kib": size / 1024}


def render(count: int) -> Measured:
    """The quickest of several renderings, each in a process of its own."""
    argv = [sys.executable, "-m", "bench.slurm_scale", str(count)]
    runs = [subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(ROUNDS)]
    return min((json.loads(run) for run in runs), key=lambda found: found["seconds"])


def served(count: int) -> Measured:
    """Measurements of a real slurmctld with these files. Exits with its output if it refuses them."""
    texts = files(count)
    names = hostlist.expand(f"gpu[00001-{count:05}]")
    texts["slurm.conf"] = trial_conf(texts["slurm.conf"], "SCRATCH", "ctl", ADDRESS)
    source = (ROOT / "bench/guest/slurm_scale.py").read_text()
    call = f"\nmain({json.dumps(texts)}, {json.dumps(names)}, {ADDRESS!r})\n"
    found: Measured = json.loads(on_host("ctl", APART, (source + call).encode()))
    if found["nodes"] != count:
        sys.exit(f"slurmctld took {found['nodes']} of {count} nodes")
    return found


def over(small: Measured, large: Measured) -> list[str]:
    """Sentences about goals that are missed."""
    ratio = large["seconds"] / small["seconds"]
    limits = {
        f"{LARGE} nodes take {ratio:.1f} times as long as {SMALL}": (ratio, RATIO),
        f"{LARGE} nodes take {large['seconds']:.1f} s": (large["seconds"], SECONDS),
        f"{LARGE} nodes take {large['peak_mib']:.0f} MiB": (large["peak_mib"], MIB),
    }
    return [f"{text}, the goal is {limit:g}" for text, (value, limit) in limits.items() if value > limit]


def page(small: Measured, large: Measured, daemon: Measured) -> str:
    """The tables as Markdown."""
    lines = ["| nodes | CPU seconds | peak MiB | KiB of files |", "|---|---|---|---|"]
    for count, found in ((SMALL, small), (LARGE, large)):
        lines.append(f"| {count} | {found['seconds']:.2f} | {found['peak_mib']:.0f} | {found['kib']:.0f} |")
    ratio = large["seconds"] / small["seconds"]
    lines.append(f"| ratio | {ratio:.1f}, goal {RATIO:g} | goal {MIB:g} | |")
    lines += ["", f"| slurmctld with {LARGE} nodes, none of them up | |", "|---|---|"]
    lines += [
        f"| serves after | {daemon['start_s']:.2f} s |",
        f"| `squeue`, the middle of 20 | {daemon['squeue_s'] * 1000:.0f} ms |",
        f"| `scontrol reconfigure`, until it runs with the new file | {daemon['reconfigure_s']:.2f} s |",
        f"| memory | {daemon['peak_mib']:.0f} MiB |",
    ]
    head = (
        f"# Slurm's files on a large site\n\nMade by `python -m bench.slurm_scale`; rendering is the best of {ROUNDS}."
    )
    return f"{head}\n\n" + "\n".join(lines) + "\n"


def main(words: list[str]) -> int:
    """With a number: render so many nodes and print what it took. Without: measure, store, judge."""
    if words:
        print(json.dumps(rendered(int(words[0]))))
        return 0
    small, large = render(SMALL), render(LARGE)
    daemon = served(LARGE)
    store("slurm_scale", {str(SMALL): small, str(LARGE): large, "slurmctld": daemon}, page(small, large, daemon))
    missed = over(small, large)
    print("\n".join(missed) or "all goals are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
