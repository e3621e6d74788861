# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make explore`: seeded schedules of jobs and faults around the gate's real code, in a model of Slurm and Kubernetes.

It fails if an invariant is broken, or if a fault at an I/O call was never reached. It also fails if it misses a named
defect of the gate.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from .model import GARBAGE, Outcome, explore
from .mutants import hunt, named
from .plan import plan_of
from .steps import RARE, STEPS, targets

SCHEDULES = 10_000
LOT = 50


@dataclass
class Seen:
    """Counts of some schedules, and what they broke: seed, invariant, sentence."""

    met: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    steps: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, met: Mapping[tuple[str, str, str], int], steps: Mapping[tuple[str, str], int]) -> None:
        """Add the counts of one schedule, or of several."""
        self.met.update(met)
        self.steps.update(steps)

    def summary(self) -> str:
        """One line of counts."""
        rare = min(self.met.items(), key=lambda it: it[1], default=(("", "", ""), 0))
        return (
            f"I/O calls: {sum(self.steps.values())} of {len(self.steps)} kinds; faults met: {sum(self.met.values())} "
            f"of {len(self.met)} kinds, the rarest {rare[1]} times ({', '.join(rare[0])})"
        )


def main(arguments: list[str]) -> int:
    """Explore, or replay one seed, or hunt defects."""
    options = parsed(arguments)
    if options.seed is not None:
        return replay(options.seed, options.focus)
    begun = time.monotonic()
    with ProcessPoolExecutor(options.processes) as pool:
        lots = pool.map(partial(run_lot, focus=options.focus), batches(options.first, options.schedules))
        hunted = [(row, pool.submit(hunt, row)) for row in named(options.mutants)]
        whole = gather(lots, options.schedules, begun, options.focus)
        survivors = [row.name for row, future in hunted if not report(row.name, future.result())]
    print(f"{time.monotonic() - begun:.0f} s in all")
    all_of_it = options.schedules >= SCHEDULES and not options.focus
    missing = list(gaps(whole, targets())) if all_of_it else []
    for line in missing:
        print(f"never reached: {line}")
    for name in survivors:
        print(f"SURVIVED: {name}")
    return 1 if whole.broken or missing or survivors else 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.explorer", description=__doc__)
    parser.add_argument("--schedules", type=int, default=SCHEDULES, help="so many; fewer than usual need not reach all")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="replay this one, with its trace")
    parser.add_argument("--focus", default="", help="what plan.py names happens in each; need not reach all")
    parser.add_argument("--mutants", nargs="*", metavar="NAME", help="these defects alone; none: --mutants -")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    return parser.parse_args(arguments)


def batches(first: int, count: int) -> Iterator[range]:
    """Seeds in lots."""
    for start in range(first, first + count, LOT):
        yield range(start, min(start + LOT, first + count))


def run_lot(seeds: Iterable[int], focus: str = "") -> Seen:
    """Run some schedules, in a process of the pool."""
    gc.set_threshold(GARBAGE)
    lot, aims = Seen(), targets()
    for seed in seeds:
        outcome = explore(plan_of(seed, aims, focus))
        lot.add(outcome.met, outcome.steps)
        lot.broken += [(seed, name, text) for name, text in outcome.breaches]
    return lot


def gather(lots: Iterable[Seen], schedules: int, begun: float, focus: str = "") -> Seen:
    """Join the lots and say what they showed."""
    whole = Seen()
    for lot in lots:
        whole.add(lot.met, lot.steps)
        for seed, name, text in lot.broken:
            if len(whole.broken) < 20:
                print(f"seed {seed}: {name}: {text}", flush=True)
            whole.broken.append((seed, name, text))
    print(f"{schedules} schedules in {time.monotonic() - begun:.0f} s, {len(whole.broken)} breaches", flush=True)
    for name, count in Counter(name for _, name, _ in whole.broken).items():
        seeds = sorted({seed for seed, broken, _ in whole.broken if broken == name})
        also = f' --focus "{focus}"' if focus else ""
        print(f"  {name}: {count}, e.g. python -m tests.explorer --seed {seeds[0]}{also}")
    print(whole.summary())
    return whole


def gaps(seen: Seen, targets: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    """Steps that steps.py does not list, and faults that no schedule met."""
    known = {*RARE, *((verb, step) for verb, steps in STEPS.items() for step in steps)}
    yield from (f"steps.py does not list {verb}: {step}" for verb, step in sorted(set(seen.steps) - known))
    yield from (f"{fault} at {verb}: {step}" for verb, step, fault in targets if not seen.met[fault, verb, step])


def report(name: str, caught: tuple[int, str] | None) -> bool:
    """Say which schedule noticed a defect; False if none did."""
    if caught:
        print(f"  {name}: {caught[1]} in schedule {caught[0]}", flush=True)
    return caught is not None


def replay(seed: int, focus: str = "") -> int:
    """Run one schedule and show what happened."""
    plan = plan_of(seed, targets(), focus)
    outcome: Outcome = explore(plan, keep=True)
    print(plan, *outcome.lines, sep="\n")
    for name, text in outcome.breaches:
        print(f"BROKEN: {name}: {text}")
    return 1 if outcome.breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
