# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.picture import (
    CHAR,
    LINE,
    Picture,
    cut,
    labels,
    level,
    longest,
    overlapping,
    upright,
)


def test_a_long_text_keeps_its_begin_and_its_end() -> None:
    assert (cut("abc", 3 * CHAR), cut("abcdefghij", 6 * CHAR), cut("abcdef", 0)) == ("abc", "abc…ij", "a…f")
    text = level(10, 0, "abcdefghij", 6 * CHAR, right=True)
    assert (text.x, text.width, text.text, text.full) == (10, 6 * CHAR, "abc…ij", "abcdefghij")
    assert level(10, 0, "ab", 6 * CHAR, right=True).x == 10 + 4 * CHAR
    turned = upright(0, 100, "ab", 60)
    assert (turned.y, turned.height, turned.width, turned.full) == (100 - 2 * CHAR, 2 * CHAR, LINE, "")


@pytest.mark.parametrize(
    ("names", "most", "expected"),
    [
        (["a1", "a2"], 5, ["a1", "a2"]),
        (["rack-0010-x", "rack-0012-x"], 6, ["…0010…", "…0012…"]),
        (["rack-1", "rack-2", "rack"], 5, ["…-1", "…-2", "…"]),
        (["aaaaaa"], 3, ["aaaaaa"]),
        (["1-long-name", "2-long-name"], 4, ["1…", "2…"]),
        ([], 3, []),
    ],
)
def test_labels_are_the_part_in_which_names_differ(names: list[str], most: int, expected: list[str]) -> None:
    assert labels(names, most) == dict(zip(names, expected, strict=True))


def test_texts_that_overlap_or_leave_the_picture_are_found() -> None:
    low = [level(0, 0, "ab", 99), level(2 * CHAR, 0, "cd", 99), level(0, LINE, "ef", 99)]
    assert list(overlapping(Picture("", 100, 100, texts=low))) == []
    more = [*low, upright(CHAR, LINE + 2, "gh", 99), level(90, 50, "ij", 99)]
    found = list(overlapping(Picture("", 100, 100, texts=more)))
    assert found == [("ab", "gh"), ("cd", "gh"), ("gh", "ef"), ("ij", "")]
    assert longest(["a", "abc"], 2) == 2 * CHAR and longest([], 9) == 0
