# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.config import words as config_words


def test_a_word_belongs_to_its_releases() -> None:
    words = "always younger>=24.05 older<25.05 between>=24.05<26.05"
    assert config_words.known(words, "23.11") == {"always", "older"}
    assert config_words.known(words, "24.05") == {"always", "older", "younger", "between"}
    assert config_words.known(words, "26.05") == {"always", "younger"}
    assert config_words.spelled(words) == ["always", "younger", "older", "between"]


@pytest.mark.parametrize("words", [config_words.KEYS, *config_words.WORDS.values()])
def test_the_table_is_read_whole(words: str) -> None:
    releases = ("23.11", "24.05", "24.11", "25.05", "25.11", "26.05")
    assert {word.lower() for word in config_words.spelled(words)} == set().union(
        *(config_words.known(words, name) for name in releases)
    )
