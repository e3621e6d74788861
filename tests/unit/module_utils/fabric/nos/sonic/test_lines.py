# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.lines import runs


def test_dscps_in_a_row_with_the_same_class_are_one_line() -> None:
    assert list(runs({"0": "0", "1": "0", "2": "3", "3": "0", "10": "0"})) == [
        ("0-1", "0"),
        ("2", "3"),
        ("3", "0"),
        ("10", "0"),
    ]
