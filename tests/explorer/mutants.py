# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Defects of the gate that schedules must notice: rows of tests/mutants/table that name an invariant."""

from __future__ import annotations

import gc
import importlib
import json
import subprocess
import sys
from dataclasses import asdict
from types import ModuleType

from tests.mutants.table import ROOT, Mutant, read

LIMIT = 1500
"""So many schedules may pass before a defect counts as unnoticed."""


def named(names: list[str] | None) -> list[Mutant]:
    """The named defects, or all."""
    rows = [row for row in read() if row.invariant]
    return rows if names is None else [row for row in rows if row.name in names]


def hunt(row: Mutant) -> tuple[int, str] | None:
    """The first schedule that notices a defect, and the invariant; tried in a Python of its own."""
    argv = [sys.executable, "-m", __name__, json.dumps(asdict(row))]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    if done.returncode or len(words) != 2:
        sys.stderr.write(done.stdout + done.stderr)
        return None
    return int(words[0]), words[1]


def plant(row: Mutant) -> None:
    """Import the gate's module with the defect in it."""
    package, _, name = row.file.removesuffix(".py").replace("/", ".").rpartition(".")
    parent = importlib.import_module(package)
    module = ModuleType(f"{package}.{name}")
    module.__file__, module.__package__ = str(ROOT / row.file), package
    sys.modules[module.__name__] = module
    exec(compile(row.apply((ROOT / row.file).read_text()), row.file, "exec"), module.__dict__)
    setattr(parent, name, module)


def search(row: Mutant) -> int:
    """Run schedules until one breaks the invariant that the row names."""
    from .model import GARBAGE, explore
    from .plan import plan_of
    from .steps import targets

    gc.set_threshold(GARBAGE)
    for seed in range(LIMIT):
        broken = {name for name, _ in explore(plan_of(seed, targets(), row.focus)).breaches}
        if row.invariant in broken:
            print(seed, row.invariant)
            return 0
    return 1


if __name__ == "__main__":
    ROW = Mutant(**json.loads(sys.argv[1]))  # to read the whole table takes longer than some hunts
    plant(ROW)
    sys.exit(search(ROW))
