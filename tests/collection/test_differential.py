# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A visit against plain Ansible: the sharpest values, keywords, loops and mistakes of tests/differential."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.collection.installed import Site
from tests.differential.table import Row, cases, rows, sharp
from tests.differential.whole import Both, both, every_pair

ROWS = rows(seldom=False)


@pytest.fixture(scope="module")
def ran(request: pytest.FixtureRequest, site: Site, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """Both runs over all that this session compares: each row costs a play in both."""
    root = tmp_path_factory.mktemp("differential")
    named = {item.name.partition("[")[0] for item in request.session.items}
    chosen = ROWS if test_a_layer_ends_as_its_task_or_is_refused.__name__ in named else []
    return both(root, cases(only_sharp=True), chosen, Path(sys.executable), site.environment)


@pytest.mark.parametrize("name", sharp())
def test_a_value_is_the_same_from_each_place(ran: Both, name: str) -> None:
    assert ran.case(name) == [], ran.ends


@pytest.mark.parametrize(("call", "pair"), every_pair(), ids=lambda value: "-".join(value) if value else "")
def test_of_two_places_the_same_one_wins(ran: Both, call: str, pair: Sequence[str]) -> None:
    assert ran.pair(call, pair) == [], ran.ends


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_layer_ends_as_its_task_or_is_refused(ran: Both, row: Row) -> None:
    assert ran.row(row) == [], ran.ends
