# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make mutants`: plant every defect of the table, one at a time, and see the test that is named for it go red.

A named test has to be green as the tree is, and to say no to the defect. A test that breaks in another way shows
nothing. Every line of the output is a finding: a defect that no test notices, or a row that has to follow the code.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.mutants.copies import Copy, spread
from tests.mutants.table import Mutant, faults, of, read, verdict

COPIES = 2
"""As many as cores: each costs an import of everything, and more would not be done sooner."""

UNHURT_S = 1800.0
"""All named tests, without any defect."""

Result = tuple[Mutant, str]


def judged(mutants: list[Mutant], copies: list[Copy]) -> Iterator[Result]:
    """Try defects on several copies at once; first the tests without any, in large lots."""
    tests = sorted({it.test for it in mutants})
    size = len(tests) // len(copies) + 1
    lots = [tests[start : start + size] for start in range(0, len(tests), size)]
    hear = [partial(Copy.hear, tests=lot, all=True, timeout_s=UNHURT_S) for lot in lots]
    unhurt = [it for seen in spread(copies, hear) for it in seen]

    def judge(mutant: Mutant, copy: Copy) -> str:
        if (clean := verdict(of(mutant.test, unhurt))) != "green":
            return f"{clean} without any defect"
        with copy.planted(mutant):
            return verdict(copy.hear([mutant.test]), mutant.error)

    yield from zip(mutants, spread(copies, [partial(judge, mutant) for mutant in mutants]), strict=True)


def tell(results: Iterable[Result]) -> tuple[int, int]:
    """Print the findings; return how many defects were tried, and how many were not noticed as they should be."""
    tried = wrong = 0
    for mutant, what in results:
        tried += 1
        if what != "red":
            wrong += 1
            print(f"\n{mutant.name}: {'SURVIVED' if what == 'green' else what}")
            print(f"  {mutant.file}: {mutant.find!r} -> {mutant.replace!r}")
            print(f"  {mutant.test}\n  {mutant.why}", flush=True)
    return tried, wrong


def main() -> int:
    """Try the requested defects; 1 if a defect survived or could not be tried."""
    parser = argparse.ArgumentParser(prog="make mutants")
    parser.add_argument("names", nargs="*", help="these alone")
    options = parser.parse_args()
    rows = read()
    if found := faults(rows):
        print("\n".join(found))
        return 1
    chosen = [it for it in rows if it.name in options.names or not options.names]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        copies = [stack.enter_context(Copy(Path(scratch) / str(at))) for at in range(min(COPIES, len(chosen)))]
        tried, wrong = tell(judged(chosen, copies))
    print(f"{tried} defects planted, {tried - wrong} noticed, {time.monotonic() - begun:.0f} s")
    return 1 if wrong or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
