# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.pcie import (
    ORDERING,
    READ_REQUEST,
    SIZES,
    WORDS,
    operation,
    settings,
)
from hypothesis import given
from hypothesis import strategies as st


def written(word: int, argument: str) -> int:
    """What a register has after setpci's VALUE:MASK."""
    value, mask = (int(text, 16) for text in argument.partition("=")[2].split(":"))
    return word & ~mask | value & mask


def test_a_read_request_of_4096_bytes_is_what_vendors_write() -> None:
    assert operation(READ_REQUEST, "4096") == "CAP_EXP+08.w=5000:7000"
    assert settings("2910") == {READ_REQUEST: "512", ORDERING: "enabled"}


@given(word=st.integers(0, 0xFFFF), size=st.sampled_from(SIZES), ordering=st.sampled_from(WORDS))
def test_each_setting_is_read_back_and_no_other_bit_changes(word: int, size: int, ordering: str) -> None:
    after = written(written(word, operation(READ_REQUEST, str(size))), operation(ORDERING, ordering))
    assert settings(f"{after:04x}") == {READ_REQUEST: str(size), ORDERING: ordering}
    assert (after ^ word) & ~0x7010 == 0


def test_other_text_is_no_register() -> None:
    with pytest.raises(ValueError):
        settings("setpci: Warning")
