# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.plan import (
    Pair,
    Quota,
    QuotaState,
    plan,
    size,
    too_small,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.steps import after

NUMBERS = st.sampled_from([0, 1, 1 << 20])
PAIRS = st.builds(Pair, NUMBERS, NUMBERS)
QUOTAS = st.dictionaries(st.sampled_from("abc"), st.builds(Quota, PAIRS, PAIRS))
WANT = QuotaState({"a": Quota(Pair.both(10 << 30), Pair.both(2_000_000))})


@given(have=QUOTAS, want=QUOTAS)
def test_from_anywhere_the_steps_end_where_nothing_is_left(have: dict[str, Quota], want: dict[str, Quota]) -> None:
    steps = plan(QuotaState(have), QuotaState(want))
    ended = after(steps, QuotaState(have))
    assert plan(ended, QuotaState(want)) == []
    assert {name: it for name, it in ended.quotas.items() if name not in want} == {
        name: it for name, it in have.items() if name not in want
    }


def test_a_step_sets_both_limits_of_both_kinds() -> None:
    [step] = plan(QuotaState({}), WANT)
    name, quota = step.payload
    assert step.reason == "limit fileset a to 10 TiB and 2,000,000 inodes"
    assert (name, quota.arguments()) == ("a", ["--block", "10737418240K:10737418240K", "--files", "2000000:2000000"])


def test_a_limit_is_lifted() -> None:
    [step] = plan(WANT, QuotaState({"a": Quota()}))
    assert step.reason == "limit fileset a to any size and any number of inodes"


@pytest.mark.parametrize("have", [QuotaState({}, ("no quotas",)), QuotaState(WANT.quotas, ("no quotas",))])
def test_limits_without_effect_are_refused_even_if_they_are_set(have: QuotaState) -> None:
    assert [step.refused for step in plan(have, WANT)] == ["no quotas"]
    assert plan(QuotaState({}, ("no quotas",)), QuotaState({"a": Quota()})) == []


@pytest.mark.parametrize(
    ("used", "told"),
    [
        ((10 << 30, 2_000_000), ""),
        ((11 << 30, 5), "uses 11 TiB of 10 TiB, so"),
        ((5, 2_000_001), "uses 2,000,001 of 2,000,000 inodes, so"),
        ((11 << 30, 2_000_001), "uses 11 TiB of 10 TiB and 2,000,001 of 2,000,000 inodes, so"),
    ],
)
def test_a_limit_below_the_usage_has_a_sentence(used: tuple[int, int], told: str) -> None:
    text = too_small("a", Quota(block_used=used[0], files_used=used[1]), WANT.quotas["a"])
    assert told in text and bool(told) == bool(text)


@pytest.mark.parametrize(("kib", "text"), [(1, "1 KiB"), (1536, "1,536 KiB"), (3 << 20, "3 GiB"), (0, "0 TiB")])
def test_sizes_are_whole_numbers(kib: int, text: str) -> None:
    assert size(kib) == text
