# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import pcie
from hypothesis import given
from hypothesis import strategies as st


def written(word: int, argument: str) -> int:
    """What a register has after setpci's VALUE:MASK."""
    value, mask = (int(text, 16) for text in argument.partition("=")[2].split(":"))
    return word & ~mask | value & mask


def test_a_read_request_of_4096_bytes_is_what_vendors_write() -> None:
    assert pcie.operation(pcie.READ_REQUEST, "4096") == "CAP_EXP+08.w=5000:7000"
    assert pcie.settings("2910") == {pcie.READ_REQUEST: "512", pcie.ORDERING: "enabled"}


@given(word=st.integers(0, 0xFFFF), size=st.sampled_from(pcie.SIZES), ordering=st.sampled_from(pcie.WORDS))
def test_each_setting_is_read_back_and_no_other_bit_changes(word: int, size: int, ordering: str) -> None:
    after = written(
        written(word, pcie.operation(pcie.READ_REQUEST, str(size))), pcie.operation(pcie.ORDERING, ordering)
    )
    assert pcie.settings(f"{after:04x}") == {pcie.READ_REQUEST: str(size), pcie.ORDERING: ordering}
    assert (after ^ word) & ~0x7010 == 0


def test_other_text_is_no_register() -> None:
    with pytest.raises(ValueError):
        pcie.settings("setpci: Warning")
