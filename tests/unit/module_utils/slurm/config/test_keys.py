# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import keys


def test_each_key_has_one_owner() -> None:
    """A key in two tables would have two answers to the question who sets it."""
    assert keys.DERIVED.keys() & keys.OWNED.keys() == set()
    assert (keys.DERIVED.keys() | keys.OWNED.keys()) & keys.MERGED == set()
    assert (keys.DERIVED.keys() | keys.OWNED.keys()) & keys.PRESETS.keys() == set()
    assert keys.DBD_DERIVED.keys() & keys.DBD_OWNED.keys() == set()


def test_harmful_words_are_of_lists_that_a_site_has() -> None:
    assert {pair.split("=")[0] for pair in keys.HARMFUL} <= {*keys.MERGED, "DebugFlags"}


def test_a_key_with_a_script_says_where_the_script_goes() -> None:
    for key, kind in keys.SCRIPT_KINDS.items():
        assert f"drawbridge_slurm.scripts.{kind}" in keys.OWNED[key].instead
