# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Each of Slurm's pitfalls has a test, and the page names files that exist."""

from __future__ import annotations

import re

from tests.conformance.tree import ROOT

PAGE = ROOT / "docs/concepts/slurm-pitfalls.md"
ROWS = [line.split("|") for line in PAGE.read_text().splitlines() if re.match(r"\| [0-9]+ \|", line)]
NAMED = {row[1].strip(): re.findall(r"`([a-z_/]+[.](?:py|yml))`", row[4]) for row in ROWS}


def test_there_are_fifteen_and_each_has_a_test() -> None:
    assert list(NAMED) == [str(number) for number in range(1, 16)]
    assert all(NAMED.values())


def test_the_tests_are_there() -> None:
    names = {name for found in NAMED.values() for name in found}
    places = (ROOT / "molecule", ROOT / "tests/unit")
    assert not {name for name in names if not any((place / name).is_file() for place in places)}
