# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.lines import (
    MAPS,
    PAUSE,
    blocks_of,
    is_owned,
    sections_of,
)

from tests.unit.emulated_switch import profile

LEAF = profile("os10", 1)
PORT = "interface ethernet1/1/1"


def section(name: str, text: str) -> tuple[str, ...]:
    return dict(sections_of(blocks_of(text), LEAF))[name]


@pytest.mark.parametrize(
    "text",
    [
        "trust dscp-map ROCE\n qos-group 0 dscp 0-25,27-63\n qos-group 3 dscp 26",
        "! Version 10.5.6.1\n!\ntrust dscp-map ROCE\n qos-group 3 dscp 26\n qos-group 0 dscp 27-63,0-25\n!",
    ],
)
def test_maps_are_equal_however_they_are_printed(text: str) -> None:
    assert section(MAPS, text) == ("trust dscp-map ROCE", " qos-group 0 dscp 0-25,27-63", " qos-group 3 dscp 26")


def test_a_port_shows_drawbridges_lines_with_hidden_defaults_and_lines_that_would_overrule_them() -> None:
    text = f"""
{PORT}
 description mtu 9000
 no shutdown
 switchport access vlan 1
 flowcontrol receive on
 service-policy input type qos SITE
 service-policy input type network-qos OTHER
 trust-map dot1p OTHER
"""
    assert section(PORT, text) == (
        PORT,
        " ets mode off",
        " flowcontrol receive on",
        " flowcontrol transmit off",
        " mtu 1532",
        " service-policy input type network-qos OTHER",
        " trust-map dot1p OTHER",
    )


@pytest.mark.parametrize(
    "header",
    [
        "trust dscp-map ROCE2",
        "trust dot1p-map ROCE",
        "class-map type queuing ROCE",
        "policy-map type qos ROCE",
        "system qos",
        PORT,
    ],
)
def test_blocks_with_other_names_are_the_sites(header: str) -> None:
    assert not is_owned(header)
    assert section(PAUSE, f"{header}\n match qos-group 3") == ()
