# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Nodes and their troubles over time."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, found, lines, stat, timeline
from docs.dashboards.queries import HOST, NODE
from docs.dashboards.variables import NODES

READING = """
The timeline has one bar for each trouble of a node, for as long as it lasts. A healthy site has none.

**Read it from left to right.** The first trouble of a node is often the cause of the next ones. A drain by *health* or
*proof* is an answer of Drawbridge, a drain by *person* is work in progress.

**Good:** no bar, no rows in the tables. **Bad:** the same bar on several nodes in the same minute: they share a leaf, a
power supply or a change.
"""
MEMORY = f"1 - node_memory_MemAvailable_bytes{{{NODE}}} / node_memory_MemTotal_bytes{{{NODE}}}"
UP = f'up{{job=~"drawbridge-.+",{NODE},node!=""}}'
DRAINED = f"drawbridge_slurm_node_drained_info{{{NODE}}}"
XID = f"max by (node, gpu) (drawbridge:gpu_xid:last{{{NODE}}}) > 0"
NOW = Row(
    "Now",
    (
        stat(
            "Nodes that are drained",
            "short",
            "With a drain in Slurm, whoever set it.",
            f"count({DRAINED}) or vector(0)",
        ),
        stat(
            "Rails without link",
            "short",
            "Of the chosen nodes.",
            f"count(drawbridge:rail_up:bool{{{NODE}}} == 0) or vector(0)",
            1,
        ),
        stat("GPUs with errors", "short", "Whose last Xid is not 0.", f"count({XID}) or vector(0)", 1),
        stat(
            "Nodes that the gate guards",
            "short",
            "Closed to pods, held by one job, or dirty.",
            f'count(drawbridge_gate_node_state{{{HOST},state=~"closed|held|dirty"}} == 1) or vector(0)',
        ),
        stat(
            "Oldest proof",
            "s",
            "Time since the last proof that a node passed, of the node for which it is longest.",
            f"max(time() - drawbridge_proof_passed_timestamp_seconds{{{NODE}}})",
        ),
        stat(
            "Silent exporters",
            "short",
            "Targets of nodes that Prometheus could not read.",
            f'count(up{{{NODE},node!=""}} == 0) or vector(0)',
            1,
        ),
    ),
)
TROUBLES = Row(
    "Troubles over time",
    (
        timeline(
            "Troubles of nodes",
            "A bar begins when a trouble is first seen, and ends when it is over.",
            Query(f"max by (node, origin, reason) ({DRAINED})", "{{node}} drained by {{origin}}: {{reason}}"),
            Query(
                f"max by (node, rail) (drawbridge:rail_up:bool{{{NODE}}}) == 0", "{{node}} rail {{rail}} has no link"
            ),
            Query(XID, "{{node}} GPU {{gpu}} has an Xid"),
            Query(
                f'max by (instance, state) (drawbridge_gate_node_state{{{HOST},state=~"open|foreign|dirty"}}) == 1',
                "{{instance}} is {{state}} for the gate",
            ),
            Query(f'min by (node, job) (up{{{NODE},node!=""}}) == 0', "{{node}} does not answer ({{job}})"),
        ),
    ),
)
FOUND = Row(
    "Found: empty is good",
    (
        found(
            "Drained nodes",
            "s",
            "The reason, and for how long. Origin is health, gate, proof, another part of Drawbridge, or person.",
            f"max by (node, origin, reason) ((time() - drawbridge_slurm_node_drained_since_timestamp_seconds{{{NODE}}})"
            f" * on (node) group_right () {DRAINED})",
            "drained for",
            "node",
        ),
        found(
            "GPUs with an Xid",
            "none",
            "The number is the last Xid since the driver was loaded. NVIDIA's list says what it means.",
            XID,
            "Xid",
            "node",
        ),
        found(
            "Hot GPUs",
            "celsius",
            "Above 85 degrees. Look at fans, at the inlet, and at neighbours in the rack.",
            f"max by (node, gpu) (drawbridge:gpu_temperature:celsius{{{NODE}}}) > 85",
            "temperature",
            "node",
        ),
        found(
            "Nodes without a recent proof",
            "s",
            "More than 30 days since the node last passed a proof.",
            f"max by (node) (time() - drawbridge_proof_passed_timestamp_seconds{{{NODE}}}) > 30 * 86400",
            "since",
            "node",
        ),
        found(
            "Nodes short of memory",
            "percentunit",
            "Less than 5 % is left. The kernel ends processes soon.",
            f"max by (node) ({MEMORY}) > 0.95",
            "used",
            "node",
        ),
        found(
            "Exporters that do not answer",
            "short",
            "Targets of nodes that Prometheus could not read. Their other numbers are absent.",
            f"min by (node, job) ({UP}) == 0",
            "up",
            "node",
        ),
    ),
)
OVER_TIME = Row(
    "Over time",
    (
        lines(
            "Hottest GPUs",
            "celsius",
            "The ten hottest.",
            Query(
                f"topk(10, max by (node, gpu) (drawbridge:gpu_temperature:celsius{{{NODE}}}))", "{{node}} GPU {{gpu}}"
            ),
        ),
        lines(
            "Nodes that wait for CPUs",
            "percentunit",
            "The ten most: share of time in which a task waited for a CPU. Data loaders need more CPUs.",
            Query(
                f"topk(10, max by (node) (rate(node_pressure_cpu_waiting_seconds_total{{{NODE}}}[$__rate_interval])))",
                "{{node}}",
            ),
            top=1,
        ),
        lines(
            "Fullest memory",
            "percentunit",
            "The ten fullest nodes. At 1 the kernel ends processes.",
            Query(f"topk(10, max by (node) ({MEMORY}))", "{{node}}"),
            top=1,
        ),
    ),
)
BOARD = Board(
    "drawbridge-nodes",
    "Drawbridge: nodes",
    "Troubles of nodes over time: drains, links, GPUs, the gate, exporters.",
    READING,
    (NODES,),
    (NOW, TROUBLES, FOUND, OVER_TIME),
    since="now-24h",
)
