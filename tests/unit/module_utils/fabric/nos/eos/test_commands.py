# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.commands import (
    commands,
    stops,
)

PROFILE, PORT, MAP = "qos profile ROCE", "interface Ethernet1", "qos map dscp 26 to traffic-class"
QUEUE = f"{PROFILE} ; uc-tx-queue 3"


def lines(path: str) -> tuple[str, ...]:
    """Each part of a path one level below the one before, and those after a plus beside the last."""
    *above, last = path.split(" ; ")
    found = [f"{' ' * 3 * depth}{line}" for depth, line in enumerate(above)]
    return (*found, *(f"{' ' * 3 * len(above)}{line}" for line in filter(None, last.split(" + "))))


@pytest.mark.parametrize(
    ("have", "want", "typed"),
    [
        (f"{QUEUE} ; bandwidth percent 30", f"{QUEUE} ; bandwidth percent 50", f"{QUEUE} ; bandwidth percent 50"),
        (
            f"{QUEUE} ; priority strict",
            f"{QUEUE} ; bandwidth percent 50 + no priority",
            f"{QUEUE} ; no priority + bandwidth percent 50",
        ),
        (f"{PROFILE} ; qos trust cos", f"{PROFILE} ; qos trust dscp", f"{PROFILE} ; qos trust dscp"),
        (f"{PROFILE} ; priority-flow-control on", PROFILE, f"{PROFILE} ; no priority-flow-control on"),
        (f"{PORT} ; mtu 1500", f"{PORT} ; mtu 9214", f"{PORT} ; mtu 9214"),
        (f"{PORT} ; service-profile OTHER", f"{PORT} ; service-profile ROCE", f"{PORT} ; service-profile ROCE"),
        (f"{PORT} ; no qos trust", PORT, f"{PORT} ; default qos trust"),
        (f"{MAP} 2", f"{MAP} 3", f"{MAP} 3"),
    ],
)
def test_a_value_is_replaced_and_never_taken_away_first(have: str, want: str, typed: str) -> None:
    assert [line.strip() for line in commands(lines(have), lines(want))] == [line.strip() for line in lines(typed)]


@pytest.mark.parametrize(
    ("have", "want", "why"),
    [
        (f"{PORT} ; mtu 1500", f"{PORT} ; mtu 9214", "a new MTU takes the links of {ports} down for a moment"),
        (PORT, f"{PORT} ; service-profile ROCE", "a change of PFC moves the buffers of {ports}"),
        (PORT, f"{PORT} ; priority-flow-control on", "a change of PFC moves the buffers of {ports}"),
        (PORT, f"{PORT} ; qos trust cos", ""),
        (PROFILE, f"{PROFILE} ; qos trust cos", f"an edit of {PROFILE} moves the buffers of all its ports at once"),
        ("", f"{PROFILE} ; qos trust cos", ""),
    ],
)
def test_what_stops_traffic(have: str, want: str, why: str) -> None:
    assert stops(want.split(" ; ")[0], lines(have), lines(want)) == why
