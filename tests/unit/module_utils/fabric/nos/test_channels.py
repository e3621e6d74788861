# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Channel
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.channels import other_channel

from tests.unit.module_utils.fabric.each_system import CUMULUS, EOS, NEXUS, OS10, SONIC, System

NX_PORT, NX_CHANNEL = "interface Ethernet1/1 ", "interface port-channel7 "


@pytest.mark.parametrize(
    ("there", "wanted", "words"),
    [
        ("bond1", "", "swp1 is in bond1, which has the MTU; add bond1 to channels of the switch"),
        ("bond2", "bond1", "swp1 should be in bond1, but it is in bond2; correct channels"),
        ("", "bond1", "swp1 should be in bond1, but it is in no port-channel"),
    ],
)
def test_a_member_that_is_elsewhere_is_named_with_the_repair(there: str, wanted: str, words: str) -> None:
    assert words in other_channel("swp1", there, wanted)


@pytest.mark.parametrize(
    ("system", "name", "makes", "has", "lacks"),
    [
        (
            EOS,
            "Port-Channel7",
            ("interface Port-Channel7 ; description to-spine1", "interface Ethernet1 ; channel-group 7 mode active"),
            (
                "interface Port-Channel7 description to-spine1",
                "interface Port-Channel7 mtu 9214",
                "interface Ethernet1 service-profile ROCE",
                "interface Ethernet2 mtu 9214",
            ),
            ("interface Ethernet1 mtu",),
        ),
        (
            CUMULUS,
            "bond1",
            ("nv set interface bond1 bond member swp1", "nv set interface bond1 link mtu 9000"),
            (
                "interface bond1 link mtu 9214",
                "interface swp2 link mtu 9214",
                "interface swp1 qos pfc-watchdog state enabled",
            ),
            ("interface swp1 link mtu",),
        ),
        (
            CUMULUS,
            "bond-worker1",
            ("nv set interface bond-worker1 bond member swp1", "nv set interface bond-worker1 link mtu 9000"),
            (
                "interface bond-worker1 link mtu 9214",
                "interface swp2 link mtu 9214",
                "interface swp1 qos pfc-watchdog state enabled",
            ),
            ("interface swp1 link mtu",),
        ),
        (
            CUMULUS,
            "peerlink",
            ("nv set interface peerlink bond member swp1", "nv set interface peerlink link mtu 9000"),
            (
                "interface peerlink link mtu 9214",
                "interface swp2 link mtu 9214",
                "interface swp1 qos pfc-watchdog state enabled",
            ),
            ("interface swp1 link mtu",),
        ),
        (
            SONIC,
            "PortChannel1",
            (
                "PORTCHANNEL|PortChannel1 admin_status up ; PORTCHANNEL|PortChannel1 mtu 9100",
                "PORTCHANNEL_MEMBER|PortChannel1|Ethernet0 NULL NULL",
            ),
            (
                "PORTCHANNEL|PortChannel1 mtu 9214",
                "PORT|Ethernet0 mtu 9100",
                "PORT|Ethernet4 mtu 9214",
                "PORT_QOS_MAP|Ethernet0 pfc_enable 3",
            ),
            (),
        ),
        (
            NEXUS,
            "port-channel7",
            (
                "interface port-channel7 ; no switchport ; description to-spine1",
                "interface Ethernet1/1 ; channel-group 7 mode active",
            ),
            (
                f"{NX_CHANNEL}description to-spine1",
                f"{NX_CHANNEL}no switchport",
                f"{NX_CHANNEL}mtu 9214",
                f"{NX_CHANNEL}priority-flow-control mode on",
                f"{NX_CHANNEL}service-policy type qos input ROCE-IN",
                f"{NX_CHANNEL}service-policy type queuing output ROCE-OUT",
                f"{NX_PORT}priority-flow-control watch-dog-interval on",
                f"{NX_PORT}priority-flow-control mode on",
            ),
            (f"{NX_PORT}service-policy", f"{NX_CHANNEL}priority-flow-control watch-dog-interval"),
        ),
        (
            OS10,
            "port-channel7",
            (
                "interface port-channel7 ; description to-spine1",
                "interface ethernet1/1/1 ; channel-group 7 mode active",
            ),
            (
                "interface port-channel7 description to-spine1",
                "interface port-channel7 mtu 9214",
                "interface ethernet1/1/1 mtu 9214",
            ),
            ("interface port-channel7 priority-flow-control",),
        ),
    ],
    ids=str,
)
def test_a_port_channel_has_the_mtu_and_its_members_have_the_class(
    switch: Any, system: System, name: str, makes: tuple[str, ...], has: tuple[str, ...], lacks: tuple[str, ...]
) -> None:
    """Each system divides the lines among both in its own way; an OS10 port and a Nexus' port-channel have all."""
    for row in makes:
        switch.type(*row.split(" ; "))
    before, (first, *_) = switch.lines(), switch.profile.ports
    want = replace(switch.profile, channels=(Channel(name, first),))
    switch.fault("lie", system.force)
    assert switch.converge(want=want).error
    assert (switch.lines(), switch.waiting()) == (before, False)
    predicted = switch.converge(check=True, want=want)
    done = switch.converge(want=want)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert switch.converge(want=want).steps == []
    lines = switch.lines()
    assert {*has} <= {*lines}
    assert [line for line in lines if lacks and line.startswith(lacks)] == []
    with switch.switch() as session, pytest.raises(DeviceError, match=f"{first} is in {name}, which has the MTU"):
        session.read()
    smaller = replace(want, mtu_bytes=9100)
    assert (switch.converge(want=smaller).error, switch.converge(want=smaller).steps) == ("", [])
