# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How a typed line is read: what EOS takes, what it completes, what it turns down and in which words."""

import pytest

from lab.emulators.fabric.eos.lines import GRAMMAR, JERICHO, XGS, table
from lab.emulators.fabric.switch import Refused

INVALID, INCOMPLETE, AMBIGUOUS = GRAMMAR.invalid, GRAMMAR.incomplete, GRAMMAR.ambiguous

COMMANDS = (
    "show version",
    "show running-config [section <section:rest>]",
    "show interfaces [<port:port>]",
    "show qos interfaces <port:port> trust",
    "configure session [<name:word>]",
    "copy running-config startup-config",
    "commit [timer <time:hms>]",
    "mtu <bytes:int:68-9214>",
    "timeout <seconds:seconds:0.01-60>",
    "map <dscp:list:0-63> to <tc:int:0-7>",
)


def says(line, patterns=COMMANDS):
    with pytest.raises(Refused) as refused:
        GRAMMAR.match(patterns, line)
    return str(refused.value)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("sh ver", "show version"),
        ("SHOW VERSION", "show version"),
        ("sh run sec qos profile", "show running-config section qos profile"),
        ("sh int et1", "show interfaces Ethernet1"),
        ("sh int Eth 12", "show interfaces Ethernet12"),
        ("show qos interfaces ethernet 1 trust", "show qos interfaces Ethernet1 trust"),
        ("conf s dbr-7", "configure session dbr-7"),
        ("com timer 00:05:00", "commit timer 00:05:00"),
        ("timeout 0.20", "timeout 0.2"),
        ("map 24 26 to 3", "map 24 26 to 3"),
        ("map 0-7,9 to 1", "map 0-7,9 to 1"),
    ],
)
def test_a_line_is_read_in_full(typed, read):
    assert GRAMMAR.match(COMMANDS, typed).text == read


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("shw version", INVALID),
        ("show version now", INVALID),
        ("mtu 9215", INVALID),
        ("mtu jumbo", INVALID),
        ("commit timer 5", INVALID),
        ("map 64 to 3", INVALID),
        ("sh int wlan1", INVALID),
        ("show", INCOMPLETE),
        ("sh int eth", INCOMPLETE),
        ("mtu", INCOMPLETE),
        ("map 26", INCOMPLETE),
        ("c", AMBIGUOUS),
        ("co running-config startup-config", AMBIGUOUS),
    ],
)
def test_a_line_is_turned_down_in_eos_words(typed, text):
    assert says(typed) == text


def test_ports_have_one_name():
    assert [GRAMMAR.port_name(word) for word in ("Et1", "ethernet1", "eth1", "Ma1", "e1/2", "x1")] == [
        *["Ethernet1"] * 3,
        "Management1",
        "Ethernet1/2",
        None,
    ]


def test_thresholds_have_one_unit():
    patterns = [line.pattern for line in table("profile-queue", XGS)]
    ecn = "random-detect ecn minimum-threshold 150 kbytes maximum-threshold 1500 {} max-mark-probability 100"
    assert GRAMMAR.match(patterns, ecn.format("kb")).args["unit"] == "kbytes"
    assert says(ecn.format("segments"), patterns) == INVALID


def test_platforms_have_their_own_queues():
    opened = {
        platform: [line.pattern for line in table("qos-profile", platform) if line.opens] for platform in (XGS, JERICHO)
    }
    assert GRAMMAR.match(opened[XGS], "uc-tx-queue 3")
    assert says("tx-queue 3", opened[XGS]) == INVALID
    assert says("uc-tx-queue 3", opened[JERICHO]) == INVALID
    ecn = "random-detect ecn minimum-threshold 1 kbytes maximum-threshold 2 kbytes weight 0"
    assert says(ecn, [line.pattern for line in table("profile-queue", JERICHO)]) == INVALID
