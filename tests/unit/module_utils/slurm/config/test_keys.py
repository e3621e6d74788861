# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.keys import (
    DBD_DERIVED,
    DBD_OWNED,
    DERIVED,
    HARMFUL,
    MERGED,
    OWNED,
    PRESETS,
    SCRIPT_KINDS,
)


def test_each_key_has_one_owner() -> None:
    """A key in two tables would have two answers to the question who sets it."""
    assert DERIVED.keys() & OWNED.keys() == set()
    assert (DERIVED.keys() | OWNED.keys()) & MERGED == set()
    assert (DERIVED.keys() | OWNED.keys()) & PRESETS.keys() == set()
    assert DBD_DERIVED.keys() & DBD_OWNED.keys() == set()


def test_harmful_words_are_of_lists_that_a_site_has() -> None:
    assert {pair.split("=")[0] for pair in HARMFUL} <= {*MERGED, "DebugFlags"}


def test_a_key_with_a_script_says_where_the_script_goes() -> None:
    for key, kind in SCRIPT_KINDS.items():
        assert f"drawbridge_slurm.scripts.{kind}" in OWNED[key].instead
