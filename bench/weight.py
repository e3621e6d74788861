# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Memory of the controller, and data sent to nodes, in visits that change nothing: `python -m bench.weight`.

Boots the lab with its spares and builds the site, ten minutes. A busy machine does not change these numbers.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.counted import Counting, run
from bench.fit import fitted
from bench.memory import Peak
from bench.results import store
from bench.sixteen import NODES, PLAYBOOKS, built, munge_key

SIZES, BEYOND = (2, 4, 8, 16), (1000, 10000)


@dataclass(frozen=True)
class Weight:
    """The most memory that all processes had together, and what ssh sent."""

    mib: float
    kilobytes: float


def weighed(words: Sequence[str], folder: Path) -> dict[int, Weight]:
    """One run of ansible-playbook for each size. Leaves if one fails."""
    found = {}
    for size in SIZES:
        counting, chosen = Counting(folder / f"count{size}"), NODES[:size]
        with Peak() as peak:
            done = run(counting, *words, "--limit", ",".join(chosen))
        if done.returncode:
            sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}")
        hosts = counting.report("check")["hosts"]
        found[size] = Weight(peak.mib, sum(hosts[name]["sent_bytes"] for name in chosen) / 1000)
    return found


def page(found: Mapping[int, Weight]) -> str:
    """The table as Markdown."""
    kinds = {
        "MiB of memory, all processes of the run": {size: it.mib for size, it in found.items()},
        "kB sent to nodes": {size: it.kilobytes for size, it in found.items()},
    }
    rows = [f"| visits that change nothing | {' | '.join(f'{size} nodes' for size in found)} | a node | off the line |"]
    rows.append("|" + "---|" * (len(found) + 3))
    lines = {name: fitted([*values.items()]) for name, values in kinds.items()}
    for name, values in kinds.items():
        cells = " | ".join(f"{value:.0f}" for value in values.values())
        rows.append(f"| {name} | {cells} | {lines[name].node:.1f} | {lines[name].off:.1f} |")
    sent = lines["kB sent to nodes"]
    told = " and ".join(f"{sent.at(size) / 1000:.0f} ± {sent.error(size) / 1000:.0f} MB to {size:,}" for size in BEYOND)
    memory = "Memory grows with `forks`, and with the inventory (inventory.md), not with the nodes of a run."
    told = f"The line says {told} nodes. {memory}"
    made = "Made by `python -m bench.weight`, one run for each number of nodes."
    return f"# Memory and data of a visit\n\n{made}\n\n" + "\n".join(rows) + f"\n\n{told}\n"


def main() -> int:
    """Build the site, and visit its nodes."""
    with tempfile.TemporaryDirectory(prefix="weight") as name:
        folder = Path(name)
        words = built(folder)
        found = weighed([*words, "-e", f"@{munge_key(folder)}", *PLAYBOOKS], folder)
    store("weight", {size: asdict(it) for size, it in found.items()}, page(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
