# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The whole site on one page."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, areas, found, lines, stat

READING = """
Start here. The first row is the state now, the second names what does not fit, the third shows how it came to be.

**Good:** no alert, no rail without link, GPUs that jobs hold are busy. **Bad:** an alert; its name is a heading of the
runbook. Go on with the dashboard that the links above name: fabric, job, nodes, gate, Slurm, storage.

A number that is missing is not a zero: the last table names programs that do not answer.
"""
HELD = "drawbridge:gpu_busy:ratio and on (node) drawbridge:node_job"
NOW = Row(
    "Now",
    (
        stat(
            "Alerts",
            "short",
            "Of Drawbridge's rules, that fire.",
            'count(ALERTS{alertname=~"Drawbridge.+",alertstate="firing"}) or vector(0)',
            1,
        ),
        stat(
            "Nodes with a job",
            "short",
            "That run at least one.",
            "count(count by (node) (drawbridge:node_job)) or vector(0)",
        ),
        stat("Jobs that run", "short", "In all partitions.", 'sum(drawbridge:slurm_jobs{state="running"})'),
        stat("Jobs that wait", "short", "In all partitions.", 'sum(drawbridge:slurm_jobs{state="pending"})'),
        stat(
            "Drained nodes",
            "short",
            "In Slurm.",
            "count(count by (node) (drawbridge_slurm_node_drained_info)) or vector(0)",
        ),
        stat("Rails without link", "short", "Of all nodes.", "count(drawbridge:rail_up:bool == 0) or vector(0)", 1),
    ),
)
FOUND = Row(
    "Found: empty is good",
    (
        found(
            "Alerts that fire",
            "short",
            "docs/guides/alerts.md has a section for each.",
            'max by (alertname, severity, node, instance) (ALERTS{alertname=~"Drawbridge.+",alertstate="firing"})',
            "fires",
            "node",
        ),
        found(
            "Targets that do not answer",
            "short",
            "Prometheus could not read them. Their last values are old, and then absent.",
            'min by (instance, job) (up{job=~"drawbridge-.+"}) == 0',
            "up",
        ),
        found(
            "Programs that read nothing",
            "short",
            "slurmctld or a switch did not answer Drawbridge's reader.",
            'min by (program) (label_replace(drawbridge_switch_up, "program", "$1", "switch", "(.+)")) == 0'
            ' or label_replace(max(drawbridge_slurm_up) == 0, "program", "slurmctld", "", "")',
            "up",
        ),
    ),
)
OVER_TIME = Row(
    "Over time",
    (
        lines(
            "GPUs that jobs hold",
            "percentunit",
            "Busy: mean over GPUs of nodes with a job. Tensor: share of cycles in which tensor cores work.",
            Query(f"avg({HELD})", "busy"),
            Query("avg(drawbridge:gpu_tensor_active:ratio and on (node) drawbridge:node_job)", "tensor cores"),
            top=1,
        ),
        areas("Power of GPUs", "watt", "By all nodes.", Query("sum(drawbridge:gpu_power:watts)", "all GPUs")),
        areas("Nodes by state", "short", "In Slurm.", Query("sum by (state) (drawbridge:slurm_nodes)", "{{state}}")),
        lines(
            "Traffic of rails",
            "Bps",
            "The sum of all adapters.",
            Query("sum(drawbridge:rail_sent:bytes_rate5m)", "sent"),
            Query("sum(drawbridge:rail_received:bytes_rate5m)", "received"),
        ),
        lines(
            "Congestion",
            "pps",
            "Marks come first, pauses later, drops never.",
            Query("sum(drawbridge:port_ecn_marked:rate5m)", "marks"),
            Query("sum(drawbridge:port_pause_sent:rate5m)", "pauses"),
            Query("sum(drawbridge:port_dropped:rate5m)", "drops"),
        ),
        lines(
            "Storage",
            "Bps",
            "All file systems, as nodes see them.",
            Query("sum(drawbridge:storage_read:bytes_rate5m)", "read"),
            Query("sum(drawbridge:storage_write:bytes_rate5m)", "written"),
        ),
    ),
)
BOARD = Board(
    "drawbridge-site",
    "Drawbridge: site",
    "Jobs, GPUs, network, storage and alerts of the whole site.",
    READING,
    (),
    (NOW, FOUND, OVER_TIME),
)
