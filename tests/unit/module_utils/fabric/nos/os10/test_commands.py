# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.commands import (
    commands,
    on_ports,
    removed_last,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.lines import (
    MAPS,
    PAUSE,
    QUEUES,
)

ONE = "interface ethernet1/1/1"


def test_only_what_differs_is_typed_and_what_goes_comes_first() -> None:
    have = ("trust dscp-map ROCE", " qos-group 0 dscp 0-23,32-63", " qos-group 3 dscp 24-31")
    want = ("trust dscp-map ROCE", " qos-group 0 dscp 0-23,32-63", " qos-group 3 dscp 26")
    assert [line.strip() for line in commands(have, want)] == [
        "trust dscp-map ROCE",
        "no qos-group 3 dscp 24-31",
        "qos-group 3 dscp 26",
    ]
    assert commands(have, have) == []


def test_ports_side_by_side_are_a_range() -> None:
    names = [f"ethernet1/1/{port}" for port in ("1", "2", "3", "4:1", "4:2", "7")]
    heads = ("interface range ethernet1/1/1-1/1/3", "interface range ethernet1/1/4:1-1/1/4:2")
    assert on_ports(names, ("mtu 9214",)) == tuple(
        line for head in (*heads, "interface ethernet1/1/7") for line in (head, "mtu 9214", "exit")
    )


def test_blocks_go_after_the_lines_that_may_name_them_and_users_first() -> None:
    port = ("interface ethernet1/1/1", "no qos-map traffic-class", "exit")
    gone = ("no class-map type queuing ROCE-Q5", "no qos-map traffic-class ROCE", "no policy-map type queuing ROCE")
    assert removed_last((*gone, *port)) == (*port, gone[2], gone[0], gone[1])


@pytest.mark.parametrize(
    ("section", "have", "want", "why"),
    [
        (MAPS, ("a",), ("b",), ""),
        (QUEUES, ("a",), ("b",), ""),
        (PAUSE, (), ("b",), ""),
        (PAUSE, ("a",), ("b",), "an edit of the PFC policy moves the buffers of all its ports at once"),
        (ONE, (ONE, " mtu 1532"), (ONE, " mtu 9214"), "a new MTU takes the links of {ports} down for a moment"),
        (ONE, (ONE,), (ONE, " priority-flow-control mode on"), "a change of PFC moves the buffers of {ports}"),
        (ONE, (ONE,), (ONE, " trust-map dscp ROCE"), ""),
    ],
)
def test_what_stops_traffic(section: str, have: tuple[str, ...], want: tuple[str, ...], why: str) -> None:
    assert stops(section, have, want) == why
