# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.placed.text import (
    BLOCK,
    FILE,
    TREE,
    Item,
    items,
    joined,
    left_over,
    parse,
    text,
    without,
)

ONE, TWO, SHARED = items(FILE, ["/etc/drawbridge/one", "/etc/drawbridge/two", "/etc/drawbridge/shared"])
RECORD = {"nic": [ONE, SHARED], "gate": [TWO, SHARED, Item(TREE, "/usr/local/lib/drawbridge/gate")]}


def test_a_record_is_read_as_it_was_written() -> None:
    assert parse(text({**RECORD, "left": []})) == RECORD


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("[]", "it is no mapping of roles"),
        ('{"nic": [["file"]]}', "role nic has ['file'], which is no kind with its path"),
        ('{"nic": [["file", 3]]}', "which is no kind with its path"),
        ('{"nic": [["socket", "/x"]]}', "role nic has socket /x, which Drawbridge does not place"),
        ('{"nic": [["file", "x"]]}', "role nic has file x"),
        ('{"nic": [["file", "/etc/drawbridge/../passwd"]]}', "which Drawbridge does not place"),
        ('{"nic": [["tree", "/"]]}', "role nic has tree /, which"),
        ("{", "Expecting"),
    ],
)
def test_what_no_role_placed_is_no_record(raw: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse(raw)


@pytest.mark.parametrize(
    ("wanted", "gone", "left"),
    [
        pytest.param({"nic": [ONE, SHARED]}, ["gate"], [TWO, RECORD["gate"][2]], id="another role places it too"),
        pytest.param({"nic": [ONE]}, [], [], id="a role that is not asked keeps its own"),
        pytest.param({"nic": []}, ["gate"], [ONE, SHARED, TWO, RECORD["gate"][2]], id="nothing is wanted"),
        pytest.param({"new": [ONE]}, ["nic"], [], id="it moved to another role"),
        pytest.param({}, [], [], id="a visit of no role"),
        pytest.param({}, ["*"], [ONE, SHARED, TWO, RECORD["gate"][2]], id="a node that retires"),
        pytest.param({}, ["n*"], [ONE], id="a pattern"),
    ],
)
def test_leftovers(wanted: Any, gone: list[str], left: list[Item]) -> None:
    assert left_over(RECORD, wanted, gone) == left


def test_records_are_joined_and_things_forgotten() -> None:
    both = joined(RECORD, {"nic": [ONE, TWO], "run": [Item(BLOCK, "/etc/nccl.conf")]})
    assert both["nic"] == [ONE, SHARED, TWO]
    assert both["gate"] == RECORD["gate"]
    assert without(both, [SHARED])["nic"] == [ONE, TWO]
