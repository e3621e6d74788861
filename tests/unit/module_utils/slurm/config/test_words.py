# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config.words import (
    KEYS,
    WORDS,
    known,
    spelled,
)


def test_a_word_belongs_to_its_releases() -> None:
    words = "always younger>=24.05 older<25.05 between>=24.05<26.05"
    assert known(words, "23.11") == {"always", "older"}
    assert known(words, "24.05") == {"always", "older", "younger", "between"}
    assert known(words, "26.05") == {"always", "younger"}
    assert spelled(words) == ["always", "younger", "older", "between"]


@pytest.mark.parametrize("words", [KEYS, *WORDS.values()])
def test_the_table_is_read_whole(words: str) -> None:
    releases = ("23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
    assert {word.lower() for word in spelled(words)} == set().union(*(known(words, name) for name in releases))
