# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.commands import (
    on_ports,
    stops,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.nvue.text import render

from tests.unit.emulated_switch import profile

WANT = render(profile("nvue"))


def test_ports_are_one_command_and_a_long_list_is_several() -> None:
    assert on_ports(["swp1", "swp2", "swp5"], ("set link mtu 9214",)) == ("nv set interface swp1-2,swp5 link mtu 9214",)
    assert on_ports(["swp1s0", "swp2s0"], ("unset qos pfc profile",)) == (
        "nv unset interface swp1s0,swp2s0 qos pfc profile",
    )
    assert [line.split()[3] for line in on_ports(["swp1-40"], ("set qos pfc-watchdog",))] == [
        "swp1-16",
        "swp17-32",
        "swp33-40",
    ]


@pytest.mark.parametrize(
    ("section", "have", "why"),
    [
        ("RoCE mode", ("qos roce mode lossy",), "divides the buffers"),
        ("RoCE mode", (), "divides the buffers"),
        ("interface swp1", ("interface swp1", "   link mtu 9000", "   qos pfc-watchdog"), "takes the links of {ports}"),
        ("interface swp1", ("interface swp1", "   link mtu 9214", "   qos pfc profile OTHER"), "buffers of {ports}"),
        ("interface swp1", ("interface swp1", "   link mtu 9214"), ""),
        ("ECN", (), ""),
    ],
)
def test_what_stops_traffic(section: str, have: tuple[str, ...], why: str) -> None:
    found = stops(section, have, dict(WANT.sections)[section])
    assert why in found
    assert bool(found) is bool(why)
