# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tests that a proof of the fabric needs: `PYTHONPATH=collections python -m bench.proof`. Needs no lab; five minutes.

The program proves pretended nodes, without faults and with slow cables. Rates are made up, with noise.
Writes bench/measured/proof.md. With numbers of nodes it prints their rows alone. Ends with 1 if a cable is not named.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Result
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.progress import Progress

from bench.results import store
from tests.unit.module_utils.proof.run.pretended import Kept, Slurm, proof, settings

SIZES, PER_UNIT, SMALL_UNIT, RAILS, INCAST = (8, 128, 1024, 10_000), 64, 4, 8, 16
FAULTS, PAIR_S = 5, 15
"""Slow cables; of eight nodes one. Seconds of one test of two nodes, for a tournament of all pairs."""
HEADS = (
    "nodes | slow cables | named | tests | rounds | minutes | tests of all pairs | hours of all pairs | ports"
    " | leaf pairs | processor seconds"
)
Row = dict[str, float]


class Forgotten(Kept):
    """Records of a proof that nothing interrupts."""

    def save(self, progress: Progress) -> None:
        """Keep nothing."""

    def keep(self, result: Result) -> Path:
        """Keep nothing."""
        return Path()


def proved(nodes: int, faults: int) -> Row:
    """One proof, as numbers. Shares are of 1."""
    names = [f"n{at:05}" for at in range(nodes)]
    slow = [names[at * nodes // max(1, faults) + 1] for at in range(faults)]
    slurm = Slurm(names, cables={(name, at % RAILS): 0.6 for at, name in enumerate(slow)})
    site = settings(nodes, PER_UNIT if nodes > 2 * SMALL_UNIT else SMALL_UNIT, RAILS, incast=INCAST)
    begun = time.process_time()
    result = proof(site, slurm, Forgotten(slurm)).run(names)
    spent = time.process_time() - begun
    found = {(it.kind, it.nodes) for it in result.findings}
    it = result.fabric
    return {
        **{"nodes": nodes, "faults": faults, "tests": it.tests, "rounds": it.rounds, "seconds": it.seconds},
        "named": len(found) if found == {("cable", (name,)) for name in slow} else -1,
        **{"pairs": it.pairs, "pairs_s": (nodes - 1) * PAIR_S, "spent": spent},
        **{"ports": it.ports_passed / it.ports, "leaf_pairs": it.leaf_pairs_passed / it.leaf_pairs},
    }


def line(row: Row) -> str:
    """A row of the table."""
    cells = [f"{row[key]:,.0f}" for key in ("nodes", "faults", "named", "tests", "rounds")]
    cells += [f"{row['seconds'] / 60:.0f}", f"{row['pairs']:,.0f}", f"{row['pairs_s'] / 3600:.1f}"]
    cells += [f"{100 * row[key]:.2f} %" for key in ("ports", "leaf_pairs")]
    return f"| {' | '.join([*cells, format(row['spent'], '.1f')])} |"


def main(words: list[str]) -> int:
    """Measure, store, judge."""
    sizes = [int(word) for word in words] or SIZES
    rows = []
    for nodes in sizes:
        for faults in (0, FAULTS if nodes > 2 * SMALL_UNIT else 1):
            rows.append(proved(nodes, faults))
            print(line(rows[-1]), flush=True)
    if not words:
        site = f"{RAILS} rails of 400 Gb/s, {PER_UNIT} nodes in a unit ({SMALL_UNIT} of eight), a leaf for each rail."
        about = "Minutes are the search's own estimate. All pairs: a tournament, 15 s a round, on all rails at once."
        table = f"| {HEADS} |\n|{'---|' * len(HEADS.split('|'))}\n" + "\n".join(map(line, rows))
        head = f"# Tests of a proof\n\nMade by `python -m bench.proof`: {site}\n{about}"
        share = (
            "Ports and leaf pairs: the share that a passing test had. Processor seconds: those of program and model."
        )
        store("proof", rows, f"{head}\n{share}\n\n{table}\n")
    missed = [f"{row['nodes']:.0f} nodes: a cable was not named" for row in rows if row["named"] != row["faults"]]
    print(*missed, sep="\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
