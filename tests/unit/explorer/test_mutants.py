# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import importlib.util
import sys

import pytest

from tests.explorer import invariants
from tests.explorer.mutants import Finder, named, plant
from tests.explorer.plan import CROWD, FATES, LOCAL, OUTAGES

INVARIANTS = {check.__name__ for check in invariants.SAFETY} | {"usable_in_time", "no_job_waits_for_ever"}


def test_there_is_a_defect_for_every_step_that_keeps_things_safe() -> None:
    rows = named(None)
    assert len(rows) >= 15
    for row in rows:
        assert row.invariant in INVARIANTS, row.name
        assert row.focus in ("", CROWD, *FATES, *OUTAGES, *LOCAL), row.name
        assert row.file.startswith("roles/slurm_gate/files/gate/"), row.name


def test_the_module_is_loaded_with_the_defect_in_it() -> None:
    row = next(row for row in named(None) if row.name == "the_label_stays")
    name = row.file.removesuffix(".py").replace("/", ".")
    spec = Finder(row).find_spec(name)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted"] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["planted"]
    assert module.dirtying(module.Owner("vision", 7)).label is None
    assert Finder(row).find_spec("json") is None


def test_what_is_imported_already_can_not_be_broken() -> None:
    import roles.slurm_gate.files.gate.states  # noqa: F401  # the point of it

    with pytest.raises(AssertionError, match="imported already"):
        plant(named(None)[0])
