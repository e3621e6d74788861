# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Against parts of public captures of Junos."""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.junos.state import reads

from tests.unit.emulated_switch import profile

READS = {read.what: read.parse for read in reads(profile("junos"))}
EXTENSIVE = """\
Physical interface: et-0/0/24, Enabled, Physical link is Up
  Queue counters:       Queued packets  Transmitted packets      Dropped packets
    3                                0                    0                    0
  MAC Priority Flow Control Statistics:
    Priority :  2                             0                0
    Priority :  3                             7                1
"""
QUEUES = """\
Physical interface: et-0/0/1, up, Physical link is Up
Egress queues: 8 supported, 4 in use
Queue: 0, Forwarding classes: best-effort
    Tail-dropped packets :                    99                     0 pps
Queue: 4, Forwarding classes: ROCE
  Queued:
    Packets              :                   500                     0 pps
  Transmitted:
    Tail-dropped packets :                     2                     0 pps
    RED-dropped packets  :                     1                     0 pps
    ECN-CE packets       :                    40                     0 pps
"""
LLDP = """\
Local Interface    Parent Interface    Chassis Id                               Port info          System Name
et-0/0/17:1        -                   6c:92:cf:06:91:3e                        ens5f0np0          gpu01
et-0/0/5.0         ae2                 2c:6b:f5:94:59:c0                        ge-0/0/0           spine1
"""


def test_pause_frames_in_both_directions() -> None:
    found = READS["pause frames"](EXTENSIVE)["et-0/0/24"]["priorities"]
    assert found == {"2": {"rx_pause": 0, "tx_pause": 0}, "3": {"rx_pause": 7, "tx_pause": 1}}


def test_queues_of_classes_are_priorities_and_others_are_left_out() -> None:
    assert READS["ECN marks and drops"](QUEUES) == {
        "et-0/0/1": {"priorities": {"3": {"dropped_packets": 3, "ecn_marked_packets": 40}}}
    }


def test_a_bundle_has_the_neighbour_of_its_member() -> None:
    found = {port: it["neighbour"] for port, it in READS["LLDP neighbours"](LLDP).items()}
    spine = ["spine1", "ge-0/0/0"]
    assert found == {"et-0/0/17:1": ["gpu01", "ens5f0np0"], "et-0/0/5": spine, "ae2": spine}


@pytest.mark.parametrize("what", ["pause frames", "ECN marks and drops"])
def test_an_answer_without_ports_is_another_shape(what: str) -> None:
    with pytest.raises(ValueError, match="nothing"):
        READS[what]("nothing")
