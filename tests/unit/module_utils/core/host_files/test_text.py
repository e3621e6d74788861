# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.text import (
    block,
    with_block,
)
from hypothesis import given
from hypothesis import strategies as st

LINES = st.lists(st.text(alphabet="ab#= ", max_size=5), max_size=4).map(
    lambda lines: "".join(f"{it}\n" for it in lines)
)


@given(before=LINES, old=LINES, new=LINES, after=LINES)
def test_a_block_is_replaced_in_its_place_and_all_else_stays(before: str, old: str, new: str, after: str) -> None:
    text = with_block(before, old) + after
    assert block(text) == old
    changed = with_block(text, new)
    assert block(changed) == new
    assert changed.startswith(before) and changed.endswith(after)
    assert with_block(changed, old) == text


def test_a_file_without_a_block_gets_one_at_its_end() -> None:
    assert block("A=1") is None
    assert with_block("A=1", "B=2\n") == "A=1\n# BEGIN drawbridge\nB=2\n# END drawbridge\n"
