# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.sonic.commands import (
    commands,
    on_ports,
    stops,
)

HEADER = "interface Ethernet0"


def test_the_rest_of_a_range_of_queues_keeps_what_it_had() -> None:
    have = (HEADER, "   QUEUE|3-4", "   QUEUE|3-4 scheduler scheduler.1")
    want = (HEADER, "   QUEUE|3", "   QUEUE|3 scheduler ROCE_DATA")
    assert commands(have, want)[2:] == [
        "+ QUEUE|3",
        "+ QUEUE|3 scheduler ROCE_DATA",
        "+ QUEUE|4",
        "+ QUEUE|4 scheduler scheduler.1",
    ]


def test_a_watchdog_comes_as_a_whole() -> None:
    have = (HEADER, "   PFC_WD action drop", "   PFC_WD detection_time 400")
    want = (HEADER, "   PFC_WD action drop", "   PFC_WD detection_time 200")
    assert len(commands(have, want)) == 4


def test_a_range_of_ports_is_in_the_key() -> None:
    assert on_ports(["Ethernet0", "Ethernet8", "Ethernet16"], ("+ QUEUE|3", "+ PORT mtu 9214")) == (
        "+ QUEUE|Ethernet0-16:8|3",
        "+ PORT|Ethernet0-16:8 mtu 9214",
    )


@pytest.mark.parametrize(
    ("section", "line", "stopping"),
    [
        (HEADER, "   QUEUE|3 scheduler ROCE_DATA", True),
        (HEADER, "   PORT_QOS_MAP pfc_enable 3", True),
        (HEADER, "   PORT mtu 9214", True),
        (HEADER, "   PFC_WD action drop", False),
        ("ECN", "WRED_PROFILE|ROCE green_min_threshold 150000", False),
    ],
)
def test_what_takes_links_down(section: str, line: str, stopping: bool) -> None:
    assert bool(stops(section, (), (line,))) is stopping
