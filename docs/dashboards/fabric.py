# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The fabric: both ends of each cable, in the order in which congestion shows."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, areas, found, lines
from docs.dashboards.queries import BUSY_RAIL, NODE, ONE_CABLE, RAIL, USED_RAIL, port, rail, slower
from docs.dashboards.variables import NODES, RAILS, SWITCHES

READING = """
**Order.** A queue grows. The switch *marks* packets (ECN). The receiver answers with *CNP*, and the sender slows down.
*Pauses* (PFC) come only when that is not enough. *Drops* in the lossless class must not occur.

**Good:** marks and CNP come and go with load, pauses are rare, drops are zero. The tables are empty.

**Bad:** pauses without marks, CNP that an adapter ignores, a rail that carries less than its siblings.

A cable has two ends. What a port *sent*, the adapter at the other end *received*.
"""
SENT, RECEIVED = rail("pause_sent"), rail("pause_received")
USED = f"drawbridge:rail_sent:bytes_rate5m{{{RAIL}}}"
TRAFFIC = f"drawbridge:rail_received:bytes_rate5m{{{RAIL}}}"


def _one_end() -> str:
    """Pauses that one end of a cable counts as sent, and the other does not count as received."""
    sent, received = (f"sum by ({ONE_CABLE}) ({port(name)})" for name in ("pause_sent", "pause_received"))
    nic_sent, nic_received = (f"max by (node, rail) ({name})" for name in (SENT, RECEIVED))
    return f"{sent} > 10 and on (node, rail) {nic_received} == 0 or {received} == 0 and on (node, rail) {nic_sent} > 10"


FOUND = Row(
    "Found: empty is good",
    (
        found(
            "Rails that are down",
            "short",
            "The adapter's port has no link. Look at the cable and at the switch's port.",
            f"max by (node, rail) (drawbridge:rail_up:bool{{{RAIL}}}) == 0",
            "up",
            "node",
        ),
        found(
            "Nodes that miss a rail",
            "short",
            "The node has fewer rails than others of its class: an adapter is gone from the bus, or its driver is.",
            f'count by (node, node_class) (node_network_up{{{NODE},rail!=""}}) < on (node_class) group_left () '
            'max by (node_class) (count by (node, node_class) (node_network_up{node!="",rail!=""}))',
            "rails",
            "node",
        ),
        found(
            "Links slower than their siblings",
            "Bps",
            "The link came up with a lower rate than others of the node. Look at cable, module and port setting.",
            f"max by (node, rail) (drawbridge:rail_speed:bytes{{{RAIL}}}) < on (node) group_left () "
            f"max by (node) (drawbridge:rail_speed:bytes{{{NODE}}})",
            "rate of the link",
            "node",
        ),
        found(
            "Adapters with less PCIe than they can",
            "percentunit",
            "Lanes or speed are lost: the adapter is slow without an error. Seat it anew, or replace it.",
            f"min by (node, rail) (drawbridge:rail_pcie:ratio{{{RAIL}}}) < 1",
            "share of its PCIe",
            "node",
        ),
        found(
            "Rails slower than their siblings",
            "percentunit",
            "The rail sends less than half of the usual rail of its node, which is busy. The number is the share.",
            slower(f"({USED} > {USED_RAIL})", "0.5", BUSY_RAIL),
            "share of the usual rail",
            "node",
        ),
        found(
            "Adapters that ignore CNP",
            "pps",
            "ECN is off on the adapter as a sender: it goes on at full speed until the switch pauses it.",
            f"max by (node, rail) ({rail('cnp_ignored')}) > 0",
            "ignored",
            "node",
        ),
        found(
            "Pauses without marks",
            "pps",
            "The switch sends pauses in a priority in which it marks nothing: ECN is off there, or begins too late.",
            f"sum by (switch, priority) ({port('pause_sent')}) > 100"
            f" and on (switch, priority) sum by (switch, priority) ({port('ecn_marked')}) < 1",
            "pauses sent",
        ),
        found(
            "Counters that move at one end of a cable only",
            "pps",
            "One end sent pauses and the other received none: PFC is off there, or in another priority, "
            "or the cabling differs from the intent. The number is what the port counts.",
            _one_end(),
            "pauses at the port",
            "node",
        ),
        found(
            "Packets dropped by switches",
            "pps",
            "In the lossless class each drop costs a retransmission. Compare headroom and buffers with the intent.",
            f"sum by ({ONE_CABLE}, priority) ({port('dropped')}) > 0",
            "dropped",
            "node",
        ),
        found(
            "Queues that were stuck",
            "short",
            "The PFC watchdog saw a queue that stayed paused, within the last hour. The port's host does not take "
            "packets, or sends pauses without end.",
            "max by (switch, port, node, rail, priority) "
            '(drawbridge:port_storms:increase1h{switch=~"$switch",node=~"$node",rail=~"$rail"}) > 0',
            "storms in 1 h",
            "node",
        ),
        found(
            "Rails that send packets again",
            "pps",
            "Retransmissions: packets are lost or come late on the path of this rail.",
            f"max by (node, rail) ({rail('retransmits')}) > 10",
            "sent again",
            "node",
        ),
        found(
            "Switches that were not read",
            "short",
            "The last reading was not complete. Everything else here says nothing about this switch.",
            'max by (switch) (drawbridge_switch_up{switch=~"$switch"}) == 0',
            "read",
        ),
    ),
)
ORDER = Row(
    "Congestion in its order: marks, CNP, pauses, drops",
    (
        lines(
            "Packets marked by switches",
            "pps",
            "ECN marks by switch. They come first; under load they are normal.",
            Query(f"sum by (switch) ({port('ecn_marked')})", "{{switch}}"),
        ),
        lines(
            "Marked packets received, by rail",
            "pps",
            "What adapters see of the marks. Zero while switches mark: look at the DSCP of the traffic.",
            Query(f"sum by (rail) ({rail('ecn_marked')})", "rail {{rail}}"),
        ),
        lines(
            "CNP, by rail",
            "pps",
            "Receivers send CNP, senders handle them. Both lines of a rail are alike over all nodes.",
            Query(f"sum by (rail) ({rail('cnp_sent')})", "rail {{rail}} sent"),
            Query(f"sum by (rail) ({rail('cnp_handled')})", "rail {{rail}} handled"),
        ),
        lines(
            "Pauses at adapters, by rail",
            "pps",
            "Received: a switch stops the adapter. Sent: the host is slower than its link.",
            Query(f"sum by (rail) ({RECEIVED})", "rail {{rail}} received"),
            Query(f"sum by (rail) ({SENT})", "rail {{rail}} sent"),
        ),
        lines(
            "Pauses at switches",
            "pps",
            "By switch. A switch that only receives has slow hosts, or a congested switch above it.",
            Query(f"sum by (switch) ({port('pause_sent')})", "{{switch}} sent"),
            Query(f"sum by (switch) ({port('pause_received')})", "{{switch}} received"),
        ),
        lines(
            "Drops",
            "pps",
            "Zero in the lossless class. Discards of adapters mean that the host was too slow.",
            Query(f"sum by (switch) ({port('dropped')})", "{{switch}}"),
            Query(f"sum by (rail) ({rail('discards')})", "adapters of rail {{rail}}"),
        ),
    ),
)
LOAD = Row(
    "Load",
    (
        lines(
            "Received by the usual node, by rail",
            "Bps",
            "The median of all chosen nodes. Rails of a healthy fabric lie on one line.",
            Query(f"quantile by (rail) (0.5, {TRAFFIC})", "rail {{rail}}"),
        ),
        lines(
            "Received by the slowest node, by rail",
            "Bps",
            "The least of all chosen nodes. One rail far below the others: the second table names the node.",
            Query(f"min by (rail) ({TRAFFIC})", "rail {{rail}}"),
        ),
        areas(
            "Sent by all chosen nodes, by rail",
            "Bps",
            "The sum. Steps show where jobs begin and end.",
            Query(f"sum by (rail) ({USED})", "rail {{rail}}"),
        ),
        lines(
            "Deepest queues",
            "bytes",
            "The ten deepest, at the time of the reading. Near the pause threshold they cause pauses.",
            Query(
                "topk(10, max by (switch, port, priority) "
                '(drawbridge:port_queue:bytes{switch=~"$switch",node=~"$node",rail=~"$rail"}))',
                "{{switch}} {{port}} priority {{priority}}",
            ),
        ),
        lines(
            "Adapters that receive most pauses",
            "pps",
            "The ten most. Many on one leaf: the congestion is above it. One node: look at its peers.",
            Query(f"topk(10, max by (node, rail) ({RECEIVED}))", "{{node}} rail {{rail}}"),
        ),
        lines(
            "Rails without link",
            "short",
            "How many, by rail.",
            Query(
                f"sum by (rail) (drawbridge:rail_up:bool{{{RAIL}}} == bool 0)",
                "rail {{rail}}",
            ),
        ),
    ),
)
BOARD = Board(
    "drawbridge-fabric",
    "Drawbridge: fabric",
    "Congestion, pauses and losses at both ends of each cable, by rail and switch.",
    READING,
    (NODES, RAILS, SWITCHES),
    (FOUND, ORDER, LOAD),
)
