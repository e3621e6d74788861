# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One job: its GPUs, adapters, switch ports and storage while it ran."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, areas, found, lines, stat
from docs.dashboards.queries import ONE_CABLE, USED_RAIL, mean_of_job, of_job, slower
from docs.dashboards.variables import JOB, NODES_OF_JOB

READING = """
Choose the job, and a time in which it ran. Numbers count only while the job ran on a node.

**Good:** all GPUs are about as busy as each other, all rails of a node carry the same, the tables are empty.

**Bad:** one GPU that is idle, one rail that carries less, low GPU use together with high reads from storage.

If the last table is not empty, the job shares nodes. Then the numbers are those of all jobs on these nodes.
"""
GPU_BUSY, GPU_POWER = "drawbridge:gpu_busy:ratio", "drawbridge:gpu_power:watts"
RECEIVED = "drawbridge:rail_received:bytes_rate5m"
READ, WRITTEN = "drawbridge:storage_read:bytes_rate5m", "drawbridge:storage_write:bytes_rate5m"


def _by_node(function: str, series: str) -> Query:
    return Query(f"{function} by (node) ({of_job(series)})", "{{node}}")


def _by(label: str, function: str, series: str, word: str = "") -> Query:
    before = "rail " if label == "rail" else ""
    return Query(f"{function} by ({label}) ({of_job(series)})", f"{before}{{{{{label}}}}}{word}")


def _throttled() -> str:
    """Busy GPUs with far less power than the job's usual GPU: the share."""
    power, busy = (f"max by (node, gpu) ({mean_of_job(series)})" for series in (GPU_POWER, GPU_BUSY))
    return f"{power} / scalar(quantile(0.5, {power})) < 0.7 and on (node, gpu) {busy} > 0.5"


def _starved() -> str:
    """Nodes whose GPUs are idle while they read much: the GPUs' use."""
    return f"avg by (node) ({mean_of_job(GPU_BUSY)}) < 0.5 and on (node) sum by (node) ({mean_of_job(READ)}) > 1e8"


def _others() -> str:
    """Jobs that ran on nodes of the job while it did."""
    both = 'drawbridge:node_job{node=~"$node",job!="$job"} and on (node) drawbridge:node_job{job="$job"}'
    return f"max by (node, job, user) (max_over_time(({both})[$__range:$__interval]))"


NOW = Row(
    "The job",
    (
        stat(
            "Nodes",
            "short",
            "Nodes on which it runs at the end of the chosen time.",
            'count(count by (node) (drawbridge:node_job{job="$job"}))',
        ),
        stat("GPUs busy", "percentunit", "Mean of all its GPUs.", f"avg({mean_of_job(GPU_BUSY)})"),
        stat("Least busy GPU", "percentunit", "Its mean.", f"min({mean_of_job(GPU_BUSY)})"),
        stat(
            "GPU memory, peak",
            "percentunit",
            "The highest share of a GPU's memory.",
            f"max(max_over_time(({of_job('drawbridge:gpu_memory_used:ratio')})[$__range:$__interval]))",
        ),
        stat("Power", "watt", "Of all its GPUs, mean.", f"sum({mean_of_job(GPU_POWER)})"),
        stat("Read from storage", "Bps", "By all its nodes, mean.", f"sum({mean_of_job(READ)})"),
    ),
)
FOUND = Row(
    "Found: empty is good",
    (
        found(
            "GPUs that were idle",
            "percentunit",
            "Busy for less than a fifth of the time. The job does not use them, or they wait for something below.",
            f"max by (node, gpu) ({mean_of_job(GPU_BUSY)}) < 0.2",
            "busy",
            "node",
        ),
        found(
            "Rails that carried less than their siblings",
            "percentunit",
            "In the mean less than three quarters of the node's usual rail. All ranks wait for the slowest one.",
            slower(mean_of_job("drawbridge:rail_sent:bytes_rate5m"), "0.75", USED_RAIL),
            "share of the usual rail",
            "node",
        ),
        found(
            "GPUs that were throttled",
            "percentunit",
            "Busy, with far less power than the usual GPU of the job: heat or a power limit lowers its clocks. The "
            "number is the share of the usual power.",
            _throttled(),
            "share of the usual power",
            "node",
        ),
        found(
            "Nodes that waited for storage",
            "percentunit",
            "GPUs less than half busy while the node reads more than 100 MB/s: the data loader is the limit.",
            _starved(),
            "GPUs busy",
            "node",
        ),
        found(
            "Switch ports of its nodes that sent pauses",
            "pps",
            "The switch stopped the adapter: the path of its packets is congested.",
            f"sum by ({ONE_CABLE}) ({mean_of_job('drawbridge:port_pause_sent:rate5m')}) > 10",
            "pauses sent",
            "node",
        ),
        found(
            "Other jobs on its nodes",
            "short",
            "Jobs that shared a node with it. Numbers of a shared node belong to all of them.",
            _others(),
            "shared",
            "job",
            "node",
        ),
    ),
)
GPUS = Row(
    "GPUs",
    (
        lines("GPUs busy, by node", "percentunit", "Mean of a node's GPUs.", _by_node("avg", GPU_BUSY), top=1),
        lines(
            "Least busy GPU, by node",
            "percentunit",
            "A line at zero: one GPU is not used.",
            _by_node("min", GPU_BUSY),
            top=1,
        ),
        lines(
            "Tensor cores, by node",
            "percentunit",
            "Share of cycles with work. Training in low precision has 0.3 and more; 0 with busy GPUs means none.",
            _by_node("avg", "drawbridge:gpu_tensor_active:ratio"),
        ),
        lines(
            "GPU memory, by node",
            "percentunit",
            "The fullest GPU of a node.",
            _by_node("max", "drawbridge:gpu_memory_used:ratio"),
            top=1,
        ),
        lines(
            "Power, by node",
            "watt",
            "All GPUs of a node. Alike on all nodes of a training.",
            _by_node("sum", GPU_POWER),
        ),
        lines(
            "Hottest GPU, by node",
            "celsius",
            "GPUs lower their clocks somewhere above 85 degrees.",
            _by_node("max", "drawbridge:gpu_temperature:celsius"),
        ),
    ),
)
NETWORK = Row(
    "Network",
    (
        lines(
            "Received, by rail", "Bps", "Mean of the job's nodes. Rails lie on one line.", _by("rail", "avg", RECEIVED)
        ),
        lines(
            "Received by the slowest node, by rail",
            "Bps",
            "One rail far below the others is what the job waits for.",
            _by("rail", "min", RECEIVED),
        ),
        lines(
            "NVLink",
            "Bps",
            "By node. Zero on several GPUs: the ranks talk over PCIe or the network.",
            _by_node("sum", "drawbridge:gpu_nvlink:bytes_rate5m"),
        ),
        lines(
            "Marks and CNP at its adapters",
            "pps",
            "Marked packets received, and CNP handled, by rail.",
            _by("rail", "sum", "drawbridge:rail_ecn_marked:rate5m", " marked"),
            _by("rail", "sum", "drawbridge:rail_cnp_handled:rate5m", " CNP"),
        ),
        lines(
            "Pauses at switch ports of its nodes",
            "pps",
            "By switch. Sent: the switch stops the job's adapters. Received: its nodes stop the switch.",
            _by("switch", "sum", "drawbridge:port_pause_sent:rate5m", " sent"),
            _by("switch", "sum", "drawbridge:port_pause_received:rate5m", " received"),
        ),
        lines(
            "Packets sent again, by rail",
            "pps",
            "Retransmissions. More than a few: packets are lost on this rail.",
            _by("rail", "sum", "drawbridge:rail_retransmits:rate5m"),
        ),
    ),
)
STORAGE = Row(
    "Storage",
    (
        areas("Read, by file system", "Bps", "By all its nodes.", _by("fs", "sum", READ)),
        areas("Written, by file system", "Bps", "Peaks are checkpoints.", _by("fs", "sum", WRITTEN)),
        lines(
            "Operations",
            "ops",
            "By kind. Many opens with few bytes: small files.",
            _by("operation", "sum", "drawbridge:storage_operations:rate5m"),
        ),
    ),
)
BOARD = Board(
    "drawbridge-job",
    "Drawbridge: job",
    "A job's GPUs, adapters, switch ports and storage while it ran.",
    READING,
    (JOB, NODES_OF_JOB),
    (NOW, FOUND, GPUS, NETWORK, STORAGE),
)
