# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against tables laid out as in public captures of OS10."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.model import Storage
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.os10.state import reads

from tests.unit.emulated_switch import profile

LEAF = profile("os10", 1)
READS = {read.what: read.parse for read in reads(LEAF)}
LLDP = """\
Loc PortID          Rem Host Name        Rem Port Id                    Rem Chassis Id
--------------------------------------------------------------------------------------
ethernet1/1/1       gpu01                rail0                          24:8a:07:bb:cc:aa
ethernet1/1/3:1     old-switch           fortyGigE 0/56                 00:78:57:aa:bb:cc
mgmt1/1/1           console              19                             00:04:96:dd:ff:aa
"""


def test_neighbours_have_names_with_spaces_and_breakout_ports() -> None:
    assert READS["LLDP neighbours"](LLDP) == {
        "ethernet1/1/1": {"neighbour": ["gpu01", "rail0"]},
        "ethernet1/1/3:1": {"neighbour": ["old-switch", "fortyGigE 0/56"]},
    }


def test_marks_of_a_port_are_those_of_the_only_lossless_class() -> None:
    answer = "Interface ethernet1/1/1 (All queues)\nDescription  Packets  Bytes\nECN marked count  40  163840\n"
    assert READS["ECN marks of ethernet1/1/1"](answer) == {
        "ethernet1/1/1": {"priorities": {"3": {"ecn_marked_packets": 40}}}
    }
    both = replace(LEAF, storage=Storage(priority=4, dscp=34, lossless=True))
    assert not [read.what for read in reads(both) if read.what.startswith("ECN")]


@pytest.mark.parametrize("what", ["drops of ethernet1/1/1", "ECN marks of ethernet1/1/1"])
def test_an_answer_without_counters_lacks_those_that_it_should_have(what: str) -> None:
    [read] = [read for read in reads(LEAF) if read.what == what]
    [lacks] = read.missing(read.parse("Interface ethernet1/1/1 has no statistics"), LEAF)
    assert lacks.endswith("_packets of priority 3 of ethernet1/1/1")
