# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.buffers import (
    LOSSLESS_KB,
    OTHER,
    percent,
    queue_bytes,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.systems import SYSTEMS


def test_a_queue_that_alone_is_congested_has_eight_ninths_of_the_lossless_pool() -> None:
    assert queue_bytes("tomahawk3", 0) == 8884 * 1024 * 8 // 9


def test_what_the_intent_gives_comes_first() -> None:
    assert queue_bytes("tomahawk3", 3_000_000) == queue_bytes(OTHER, 3_000_000) == 3_000_000


def test_every_asic_of_junos_is_in_the_table_or_has_no_buffer_by_itself() -> None:
    assert {asic for asic in SYSTEMS["junos"] if not queue_bytes(asic, 0)} == {OTHER}
    assert set(LOSSLESS_KB) < set(SYSTEMS["junos"])


@pytest.mark.parametrize(("threshold", "whole"), [(4, 0), (5, 1), (14, 1), (15, 2), (1000, 100)])
def test_percents_are_rounded_to_the_nearest(threshold: int, whole: int) -> None:
    assert percent(threshold, 1000) == whole
