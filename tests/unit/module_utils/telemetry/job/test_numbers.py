# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Numbers by question, and as words."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.numbers import (
    Numbers,
    amount,
    duration,
    moment,
    percent,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.job.prometheus_io import Found

NUMBERS = Numbers(
    [
        Found({"of": "read", "fs": "home"}, 1),
        Found({"of": "read", "fs": "scratch"}, 3),
        Found({"of": "idle", "node": "gpu02", "gpu": "3"}, 0.8),
        Found({"of": "slow", "node": "gpu01", "rail": "5"}, 0.3),
    ]
)


def test_numbers_by_question() -> None:
    assert (NUMBERS.get("idle"), NUMBERS.get("busy")) == (0.8, None)
    assert (NUMBERS.gpu("idle"), NUMBERS.rail("slow"), NUMBERS.gpu("busy")) == (
        *("GPU 3 of gpu02", "rail 5 of gpu01", "GPU ? of ?"),
    )
    assert [value.labels["fs"] for value in NUMBERS.all("read")] == ["scratch", "home"]


def test_no_number_is_neither_low_nor_high() -> None:
    assert (NUMBERS.at_least("idle", 0.8), NUMBERS.at_least("idle", 0.81), NUMBERS.at_least("busy", 0)) == (1, 0, 0)
    assert (NUMBERS.below("idle", 0.81), NUMBERS.below("idle", 0.8), NUMBERS.below("busy", 9)) == (1, 0, 0)


def test_plain_data() -> None:
    data = NUMBERS.data()
    assert list(data) == ["read", "idle", "slow"]
    assert data["idle"] == [{"value": 0.8, "node": "gpu02", "gpu": "3"}]


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (999.5, "1 kB"), (12.34e9, "12.3 GB"), (4.32e12, "4.32 TB"), (1.5e18, "1.5e+03 PB")],
)
def test_bytes(size: float, text: str) -> None:
    assert amount(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "00:00:00"), (59.6, "00:01:00"), (7384, "02:03:04"), (93784, "1-02:03:04")]
)
def test_a_duration_is_slurms(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_other_words() -> None:
    assert (percent(0.796), moment(1767225600.4)) == ("80 %", "2026-01-01T00:00:00Z")
