# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Steps that are joined for people, and those that are not."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.shorten import shortened


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([f"write /etc/a/{name}" for name in "abcd"], ["write 4 files in /etc/a"]),
        ([f"write /etc/a/{name}" for name in "abc"], [f"write /etc/a/{name}" for name in "abc"]),
        ([f"rail{n}: trust dscp" for n in (0, 1, 3)], ["rail[0-1,3]: trust dscp"]),
        (["rail1: trust dscp", "rail2: trust pcp"], ["rail1: trust dscp", "rail2: trust pcp"]),
        (["start it", "start it"], ["start it", "start it"]),
    ],
)
def test_steps_that_differ_in_a_name_are_joined(steps: list[str], expected: list[str]) -> None:
    found = [{"kind": "changed", "layer": "a", "hosts": "gpu01", "text": text} for text in steps]
    assert [one["text"] for one in shortened(found)] == expected


def test_causes_and_other_hosts_are_not_joined() -> None:
    one = {"kind": "failed", "layer": "a", "hosts": "gpu01", "text": "rail1: no"}
    assert len(shortened([one, {**one, "text": "rail2: no"}])) == 2
    step = {**one, "kind": "changed"}
    assert len(shortened([step, {**step, "hosts": "gpu02", "text": "rail2: no"}])) == 2
