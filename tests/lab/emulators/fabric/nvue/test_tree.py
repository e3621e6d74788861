# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVUE's objects, as NVIDIA's pages show them."""

from __future__ import annotations

import pytest

from lab.emulators.fabric.nvue import tree
from lab.emulators.fabric.nvue.schema import expand
from lab.emulators.fabric.switch import Refused


def typed(*lines, minor=11):
    configuration: tree.Tree = {}
    for line in lines:
        verb, *words = line.split()
        if verb == "set":
            tree.set_(configuration, words, minor)
        else:
            tree.unset(configuration, words)
    return configuration


def test_ports_are_named_as_the_help_text_says():
    """`nv set interface -h`: swp1-2,5-6 -> swp1,swp2,swp5,swp6."""
    assert expand("swp1-2,5-6") == ["swp1", "swp2", "swp5", "swp6"]
    assert expand("swp1s0-1,swp9") == ["swp1s0", "swp1s1", "swp9"]


def test_several_keys_are_set_at_once():
    done = typed("set qos egress-scheduler default-global traffic-class 2,6 bw-percent 30")
    part = {"bw-percent": 30}
    assert done == {"qos": {"egress-scheduler": {"default-global": {"traffic-class": {"2": part, "6": part}}}}}


@pytest.mark.parametrize(("minor", "leaf"), [(14, {"enable": "on"}), (15, {"state": "enabled"})])
def test_what_switches_roce_on_is_written_down_in_the_words_of_the_release(minor, leaf):
    assert typed("set qos roce", minor=minor) == {"qos": {"roce": {**leaf, "mode": "lossless"}}}


def test_what_ports_share_is_printed_once_under_their_range():
    lines = ["set interface swp1-4,7 link mtu 9000", "set interface swp2 description uplink"]
    assert tree.commands(typed(*lines)) == [
        "nv set interface swp1-4,7 link mtu 9000",
        "nv set interface swp2 description uplink",
    ]


def test_unset_takes_values_and_objects_away():
    lines = ["set qos pfc default-global switch-priority 3,5", "unset qos pfc default-global switch-priority 5"]
    assert tree.commands(typed(*lines)) == ["nv set qos pfc default-global switch-priority 3"]
    assert typed(*lines, "unset qos pfc") == {}


@pytest.mark.parametrize(
    "line",
    [
        "set interface swp1 link mtu 9300",
        "set qos roce mode lossles",
        "set qos mapping default-global dscp 64 switch-priority 3",
        "set qos congestion-control default-global traffic-class 3 probability 0",
        "set qos frobnicate 3",
    ],
)
def test_what_the_model_lacks_is_an_error(line):
    with pytest.raises(Refused, match=r"^Error: "):
        typed(line)
