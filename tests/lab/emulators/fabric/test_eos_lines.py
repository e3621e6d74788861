# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How a typed line is read, and what the switch makes of it: its own order, its own spelling, no defaults."""

import pytest

from lab.emulators.fabric.cli.tree import empty
from lab.emulators.fabric.eos import tree
from lab.emulators.fabric.eos.cli import RUNNING
from lab.emulators.fabric.eos.tree import EOS, GRAMMAR, JERICHO, XGS
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


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("sh ver", "show version"),
        ("SHOW VERSION", "show version"),
        ("sh run sec qos profile", "show running-config section qos profile"),
        ("sh int et1", "show interfaces Ethernet1"),
        ("sh int Eth 12", "show interfaces Ethernet12"),
        ("sh int Ma1", "show interfaces Management1"),
        ("sh int e1/2", "show interfaces Ethernet1/2"),
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
    with pytest.raises(Refused) as refused:
        GRAMMAR.match(COMMANDS, typed)
    assert str(refused.value) == text


class Typist:
    """Types lines into a tree as into a terminal: blocks by indentation."""

    def __init__(self, platform=XGS):
        self.tree = empty()
        self.platform = platform

    def type(self, text):
        stack = [([], "config")]
        for line in text.splitlines():
            depth = (len(line) - len(line.lstrip())) // 3
            path, mode = EOS.apply(self.tree, stack[depth][0], stack[depth][1], self.platform, line)
            stack = [*stack[: depth + 1], (path, mode)]
        return self

    @property
    def printed(self):
        return "\n".join(line for line in EOS.render(self.tree) if line != "!") + "\n"


def test_running_config_has_eos_order_whatever_was_typed_first(transcript):
    expected = transcript("fabric/eos/lossless.txt")
    typed = """\
priority-flow-control pause watchdog action drop
priority-flow-control pause watchdog default polling-interval 0.10
priority-flow-control pause watchdog default recovery-time 0.2
priority-flow-control pause watchdog default timeout .20
qos map traffic-class 6 to tx-queue 6
qos map traffic-class 3 to tx-queue 3
qos map dscp 48 to traffic-class 6
qos map dscp 26 to traffic-class 3
interface Et1
   service-profile ROCE
   uc-tx-queue 3
      random-detect ecn count
   no switchport
   mtu 9214
qos profile ROCE
   uc-tx-queue 6
      priority strict
   uc-tx-queue 3
      random-detect ecn min 150 kbytes max 1500 kbytes max-mark 100 weight 0
      bandwidth percent 50
      no priority
   priority-flow-control pause watchdog
   priority-flow-control priority 3 no-drop
   priority-flow-control on
   qos trust dscp
"""
    assert Typist().type(typed).printed == expected
    assert Typist().type(expected.replace("   !\n", "")).printed == expected


@pytest.mark.parametrize(
    ("typed", "printed"),
    [
        ("interface Ethernet1\n   mtu 1500", ""),
        ("interface Ethernet1\n   switchport", ""),
        ("interface Ethernet1\n   qos trust cos", ""),
        ("interface Ethernet1\n   no switchport\n   qos trust dscp", "   no switchport\n"),
        ("interface Ethernet1\n   qos trust dscp", "   qos trust dscp\n"),
        ("interface Ethernet1\n   mtu 9214\n   no mtu", ""),
        ("interface Ethernet1\n   no switchport\n   default switchport", ""),
        ("interface Ethernet1\n   uc-tx-queue 3", ""),
        ("interface Ethernet1\n   description to gpu01 rail0", "   description to gpu01 rail0\n"),
        ("qos profile A\n   qos trust dscp\ninterface Et1\n   mtu 9000\nno qos profile A\ndefault interface Et1", ""),
    ],
)
def test_defaults_and_empty_queues_are_not_printed(typed, printed):
    assert Typist().type(typed).printed == f"interface Ethernet1\n{printed}"


def test_maps_to_one_class_share_a_line():
    typist = Typist().type("qos map dscp 26 to traffic-class 3\nqos map dscp 24 25 to traffic-class 3")
    assert typist.printed == "qos map dscp 24 25 26 to traffic-class 3\n"
    typist.type("no qos map dscp 25\nqos map dscp 26 to traffic-class 4")
    assert typist.printed == "qos map dscp 24 to traffic-class 3\nqos map dscp 26 to traffic-class 4\n"


def test_ports_are_sorted_by_number():
    names = [f"Ethernet{number}" for number in (10, 2, 1, 33)]
    typist = Typist().type("\n".join(f"interface {name}" for name in ["Management1", *names]))
    assert typist.printed.split()[1::2] == ["Ethernet1", "Ethernet2", "Ethernet10", "Ethernet33", "Management1"]


@pytest.mark.parametrize("line", ["uc-tx-queue 3", "tx-queue 3\n      random-detect ecn min 1 kb max 2 kb weight 0"])
def test_jericho_has_queues_of_its_own_without_a_weight(line):
    text = "qos profile ROCE\n   !\n   tx-queue 3\n      no priority\n      bandwidth percent 50\n"
    assert Typist(JERICHO).type(text.replace("   !\n", "")).printed == text
    with pytest.raises(Refused, match=INVALID):
        Typist(JERICHO).type(f"qos profile A\n   {line}")


def test_a_poll_too_slow_for_its_times_is_warned_of_and_replaced():
    times = "priority-flow-control pause watchdog default {} {}"
    typist = Typist().type("\n".join(times.format(*pair) for pair in (("timeout", 0.2), ("recovery-time", 0.4))))
    assert tree.warning(typist.tree) == ""
    typist.type(times.format("polling-interval", 0.2))
    assert tree.warning(typist.tree).startswith("! ")
    assert tree.polling(typist.tree) == ("0.2", "0.1")


def test_a_diff_reads_as_eos_prints_it(transcript):
    ports = "interface Et21\n   no switchport\ninterface Et22\n   {}mtu 9214\n   no switchport\ninterface Et23"
    before = Typist().type(ports.format("description test\n   "))
    after = Typist().type(ports.format("description test-new\n   "))

    def body(text):
        return [line for line in text.splitlines() if not line.startswith("@@")]

    shown = body(EOS.diff(before.tree, after.tree, RUNNING, "session:/sess-2174--797967552-1-session-config"))
    captured = body(transcript("fabric/eos/session_diffs.txt"))
    assert shown[:2] == captured[:2]
    assert "\n".join(captured[2:]) in "\n".join(shown)
    assert EOS.diff(after.tree, after.tree, RUNNING, "x") == ""
