# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the switch makes of lines: its own order, its own spelling, no defaults."""

import pytest

from lab.emulators.fabric.cli.tree import empty
from lab.emulators.fabric.eos import tree
from lab.emulators.fabric.eos.lines import GRAMMAR, JERICHO, XGS
from lab.emulators.fabric.eos.shows import RUNNING
from lab.emulators.fabric.eos.tree import EOS
from lab.emulators.fabric.switch import Refused


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


def test_typing_what_is_printed_changes_nothing(transcript):
    text = transcript("fabric/eos/lossless.txt")
    once = Typist().type("\n".join(line for line in text.splitlines() if line.strip() != "!"))
    assert once.printed == text


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


def test_a_removed_profile_is_gone_and_a_removed_port_is_bare():
    typist = Typist().type("qos profile A\n   qos trust dscp\ninterface Et1\n   mtu 9000")
    assert typist.type("no qos profile A\ndefault interface Et1").printed == "interface Ethernet1\n"


def test_crossed_thresholds_are_refused():
    crossed = "random-detect ecn minimum-threshold 200 kbytes maximum-threshold 100 kbytes"
    with pytest.raises(Refused, match=r"^% "):
        Typist().type(f"qos profile A\n   uc-tx-queue 3\n      {crossed}")


def test_control_traffic_keeps_its_queue():
    with pytest.raises(Refused, match=GRAMMAR.invalid):
        Typist().type("qos map traffic-class 7 to tx-queue 3")


def test_jericho_prints_its_own_queues():
    text = "qos profile ROCE\n   !\n   tx-queue 3\n      no priority\n      bandwidth percent 50\n"
    typed = text.replace("   !\n", "")
    typist = Typist(JERICHO).type(typed)
    assert "\n".join(EOS.render(typist.tree)) + "\n" == text


def test_a_poll_too_slow_for_its_times_is_warned_of_and_replaced():
    times = "priority-flow-control pause watchdog default {} {}"
    typist = Typist().type("\n".join(times.format(*pair) for pair in (("timeout", 0.2), ("recovery-time", 0.4))))
    assert tree.warning(typist.tree) == ""
    typist.type(times.format("polling-interval", 0.2))
    assert tree.warning(typist.tree).startswith("! ")
    assert tree.polling(typist.tree) == ("0.2", "0.1")


def test_a_diff_reads_as_eos_prints_it(transcript):
    before = Typist().type(
        "interface Et21\n   no switchport\ninterface Et22\n   description test\n   mtu 9214\n   no switchport"
    )
    before.type("interface Et23")
    after = Typist().type(
        "interface Et21\n   no switchport\ninterface Et22\n   mtu 9214\n   no switchport\ninterface Et23"
    )
    after.type("interface Et22\n   description test-new")

    def body(text):
        return [line for line in text.splitlines() if not line.startswith("@@")]

    shown = body(EOS.diff(before.tree, after.tree, RUNNING, "session:/sess-2174--797967552-1-session-config"))
    assert shown[:2] == body(transcript("fabric/eos/session_diffs.txt"))[:2]
    captured = body(transcript("fabric/eos/session_diffs.txt"))[2:]
    assert "\n".join(captured) in "\n".join(shown)
    assert EOS.diff(after.tree, after.tree, RUNNING, "x") == ""
