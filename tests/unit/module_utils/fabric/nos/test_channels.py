# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Channel
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.channels import other_channel

from lab.emulators.fabric.os10 import transaction
from tests.unit import emulated_os10
from tests.unit.emulated_nexus import Nexus, profile
from tests.unit.emulated_os10 import PowerSwitch


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


def test_a_port_channel_of_a_nexus_has_all_but_the_watchdog_of_its_members(nexus: Nexus) -> None:
    nexus.type("interface port-channel7", "no switchport", "description to-spine1", "exit")
    nexus.type("interface Ethernet1/1", "channel-group 7 mode active")
    want = replace(profile(), channels=(Channel("port-channel7", "Ethernet1/1"),))
    predicted = nexus.converge(check=True, want=want)
    done = nexus.converge(want=want)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert nexus.converge(want=want).steps == []
    lines = nexus.lines()
    channel = [line.removeprefix("interface port-channel7 ") for line in lines if "port-channel7 " in line]
    assert channel == [
        "description to-spine1",
        "no switchport",
        "mtu 9214",
        "priority-flow-control mode on",
        "service-policy type qos input ROCE-IN",
        "service-policy type queuing output ROCE-OUT",
    ]
    member = [
        line.removeprefix("interface Ethernet1/1 ") for line in lines if line.startswith("interface Ethernet1/1 ")
    ]
    assert "priority-flow-control watch-dog-interval on" in member
    assert not any(line.startswith("service-policy") for line in member)
    assert "priority-flow-control mode on" in member, "inherited"
    with (
        nexus.switch() as switch,
        pytest.raises(DeviceError, match="Ethernet1/1 is in port-channel7, which has the MTU"),
    ):
        switch.read()


def test_a_port_channel_of_a_dell_switch_has_the_mtu_and_its_members_have_all(os10: PowerSwitch) -> None:
    os10.type("interface port-channel7", "description to-spine1", "exit")
    os10.type("interface ethernet1/1/1", "channel-group 7 mode active")
    want = replace(emulated_os10.profile(), channels=(Channel("port-channel7", "ethernet1/1/1"),))
    predicted = os10.converge(check=True, want=want)
    done = os10.converge(want=want)
    assert (done.error, done.steps, done.diff) == ("", predicted.steps, predicted.diff)
    assert os10.converge(want=want).steps == []
    text = "\n".join(os10.lines())
    assert "interface port-channel7\n description to-spine1\n mtu 9214\n" in f"{text}\n"
    assert "\n mtu 9214\n" in text.partition("interface ethernet1/1/1\n")[2].partition("interface ")[0]
    with (
        os10.switch() as switch,
        pytest.raises(DeviceError, match="ethernet1/1/1 is in port-channel7, which has the MTU"),
    ):
        switch.read()
    smaller = replace(want, mtu_bytes=9100)
    assert not os10.converge(want=smaller).error
    assert os10.converge(want=smaller).steps == []


def test_breakout_ports_of_a_dell_switch_are_typed_as_a_range(os10: PowerSwitch) -> None:
    with os10.state() as state:
        transaction.break_out(state, "ethernet1/1/4", 4)
    names = ("ethernet1/1/3", *(f"ethernet1/1/4:{number}" for number in range(1, 5)))
    want = replace(emulated_os10.profile(), ports=names)
    done = os10.converge(want=want)
    assert done.error == ""
    typed = [call["line"] for call in os10.journal() if call.get("line", "").startswith("interface ")]
    assert typed == ["interface ethernet1/1/3", "interface range ethernet1/1/4:1-1/1/4:4"]
    assert os10.converge(want=want).steps == []
    assert "\n".join(os10.lines()).count("\n priority-flow-control mode on") == 5
