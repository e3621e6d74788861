# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import yaml

from tests.nights import note
from tests.parts import every_run, nightly


def test_a_part_that_did_not_run_keeps_its_row(tmp_path: Path) -> None:
    file = tmp_path / "nightly.yml"
    note({"rails": (True, 600), "dcb": (True, 30)}, "first", file)
    before = yaml.safe_load(file.read_text())
    note({"dcb": (False, 90)}, "second", file)
    after = yaml.safe_load(file.read_text())
    assert after["rails"] == before["rails"]
    assert (after["dcb"]["passed"], after["dcb"]["commit"], after["dcb"]["minutes"]) == (False, "second", 2)


def test_a_run_without_parts_of_the_night_writes_nothing(tmp_path: Path) -> None:
    note({}, "first", tmp_path / "nightly.yml")
    assert not (tmp_path / "nightly.yml").exists()


def test_parts_have_labs_of_their_own() -> None:
    every, night = every_run(), nightly()
    names, labs = [it.name for it in [*every, *night]], [lab for it in every for lab in it.labs]
    assert len({*names}) == len(names)
    assert len({*labs}) == len(labs)
    # words choose parts: none of them may choose one of each run and one of the night
    assert not {word for it in every for word in it.words} & {it.name for it in night}
