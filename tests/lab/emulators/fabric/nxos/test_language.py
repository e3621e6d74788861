# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NX-OS makes of lines: its own order and spelling, no defaults, and what it refuses."""

from typing import Any

import pytest

from lab.emulators.fabric.nxos import stages
from lab.emulators.fabric.nxos.language import NXOS
from lab.emulators.fabric.nxos.lines import CLOUDSCALE, GRAMMAR
from lab.emulators.fabric.switch import Refused

LOSSLESS = """\
class-map type qos match-all ROCE-DATA
  match dscp 26
policy-map type qos ROCE-IN
  class ROCE-DATA
    set qos-group 3
policy-map type queuing ROCE-OUT
  class type queuing c-out-8q-q3
    bandwidth remaining percent 50
    random-detect minimum-threshold 150 kbytes maximum-threshold 1500 kbytes drop-probability 100 weight 0 ecn
  class type queuing c-out-8q-q7
    priority level 1
policy-map type network-qos ROCE-NQ
  class type network-qos c-8q-nq3
    mtu 9216
    pause pfc-cos 3
system qos
  service-policy type network-qos ROCE-NQ
interface Ethernet1/1
  mtu 9216
  priority-flow-control mode on
  service-policy type qos input ROCE-IN
  service-policy type queuing output ROCE-OUT
"""


def typed(text, config=None):
    """Type lines as into a terminal: blocks by indentation."""
    config = config or stages.factory("leaf1", CLOUDSCALE, 2, "10.77.1.46")["running"]
    stack: list[tuple[Any, str]] = [([], "config")]
    for line in text.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        inside, now = stack[depth]
        path, mode = NXOS.apply(config, inside, now, CLOUDSCALE, line)
        stack = [*stack[: depth + 1], (path, mode)]
    return config


def printed(config):
    return [line for line in NXOS.render(config) if line]


def test_typing_what_is_printed_changes_nothing():
    once = typed(LOSSLESS)
    assert printed(typed("\n".join(printed(once)))) == printed(once)


def test_dscps_have_names_and_defaults_are_hidden():
    lines = printed(typed(LOSSLESS.replace("mtu 9216", "mtu 1500").replace("mode on", "mode auto")))
    assert "  match dscp af31" in lines
    assert not any("mtu" in line or "flow-control" in line for line in lines)
    assert "  match dscp 27" in printed(typed("class-map type qos match-any A\n  match dscp 27"))


def test_a_class_without_lines_shows():
    text = "policy-map type queuing A\n  class type queuing c-out-8q-q1"
    assert "  class type queuing c-out-8q-q1" in printed(typed(text))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("policy-map type qos A\n  class NONE", "class-map NONE does not exist"),
        ("interface Ethernet1/1\n  service-policy type qos input NONE", "policy-map NONE does not exist"),
        ("system qos\n  service-policy type network-qos ROCE-OUT", "policy-map ROCE-OUT does not exist"),
        ("no policy-map type queuing ROCE-OUT", "is being used by interface Ethernet1/1"),
        ("no class-map type qos match-all ROCE-DATA", "is being used by class ROCE-DATA"),
        (
            "policy-map type qos B\ninterface Ethernet1/1\n  service-policy type qos input B",
            "policy-map ROCE-IN of type qos input is already attached",
        ),
        (
            "policy-map type queuing ROCE-OUT\n  class type queuing c-out-8q-q4\n    bandwidth remaining percent 51",
            "sum of bandwidth remaining percent is 101",
        ),
        (
            "policy-map type queuing ROCE-OUT\n  class type queuing c-out-8q-q7\n    bandwidth percent 1",
            "priority and bandwidth cannot be configured in one class",
        ),
        ("interface Ethernet1/2\n  switchport\n  mtu 9214", "MTU on L2 interfaces can only be set to default"),
        ("policy-map type network-qos C\n  class type network-qos c-nq3", "Invalid command"),
        ("interface Ethernet1/1\n  mtu 9217", "Invalid command"),
    ],
)
def test_what_contradicts_itself_is_refused(text, says):
    with pytest.raises(Refused, match=says):
        typed(text, typed(LOSSLESS))


def test_a_share_can_be_lowered_first():
    text = "policy-map type queuing ROCE-OUT\n  class type queuing c-out-8q-q3\n    bandwidth remaining percent 40"
    more = "policy-map type queuing ROCE-OUT\n  class type queuing c-out-8q-q4\n    bandwidth remaining percent 60"
    assert "    bandwidth remaining percent 60" in printed(typed(more, typed(text, typed(LOSSLESS))))


def test_words_are_read_in_any_spelling():
    config = typed("int eth 1/2\n  desc to gpu01")
    assert "  description to gpu01" in printed(config)
    assert GRAMMAR.port_name("e1/2") == "Ethernet1/2"
