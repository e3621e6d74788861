# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Defects of the gate that schedules must notice: rows of tests/mutants/table that name an invariant."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from dataclasses import asdict
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType

from tests.mutants.table import ROOT, Mutant, read

LIMIT = 1500
"""So many schedules may pass before a defect counts as unnoticed."""


class Planted(SourceFileLoader):
    """Loads a module with the defect in it; what Python compiled before does not count."""

    def __init__(self, name: str, path: str, row: Mutant) -> None:
        super().__init__(name, path)
        self._row = row

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        return self.source_to_code(self._row.apply(self.get_data(path).decode()).encode(), path)


class Finder:
    """Finds the one module that is to be broken."""

    def __init__(self, row: Mutant) -> None:
        self._row, self._name = row, row.file.removesuffix(".py").replace("/", ".")

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname != self._name:
            return None
        where = str(ROOT / self._row.file)
        return spec_from_file_location(fullname, where, loader=Planted(fullname, where, self._row))


def named(names: list[str] | None) -> list[Mutant]:
    """The defects that are asked for; all of them without a wish."""
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
    """From now on the gate's module is imported with the defect in it."""
    package = "roles.slurm_gate.files.gate"
    assert not any(name.startswith(package) for name in sys.modules), "the gate is imported already"
    sys.meta_path.insert(0, Finder(row))  # type: ignore[arg-type]


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
