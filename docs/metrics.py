# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables of docs/concepts/metrics.md: recorded series, Drawbridge's metrics, those of others, and their number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.families import (
    FAMILIES,
    GPFS,
    SWITCHES,
    Family,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.others import (
    AMD,
    DCGM,
    EXPORTERS,
    FILE,
    GPU,
    HOST,
    MOUNT,
    NODE,
    NODE_EXPORTER,
    OPENMETRICS,
    OPERATION,
    PARTITION,
    QUEUE,
    RAIL,
    RDMA,
    SITE,
    Exporter,
    Other,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.scrape import NFS_OPERATIONS

ROOT = Path(__file__).resolve().parent.parent
RECORDING = ROOT / "examples/prometheus/drawbridge.recording.rules.yml"
RECORDED: Mapping[str, tuple[str, str]] = {
    "drawbridge:gpu_busy:ratio": ("node, gpu, GPU_I_ID", "Part of the time in which a kernel runs."),
    "drawbridge:gpu_sm_active:ratio": (
        "node, gpu, GPU_I_ID",
        "Part of the cycles in which its SMs or compute units have work.",
    ),
    "drawbridge:gpu_sm_occupancy:ratio": ("node, gpu, GPU_I_ID", "Warps on its SMs, of as many as fit."),
    "drawbridge:gpu_tensor_active:ratio": (
        "node, gpu, GPU_I_ID",
        "Part of the cycles in which tensor or matrix cores work.",
    ),
    "drawbridge:gpu_memory_used:bytes": ("node, gpu, GPU_I_ID", "Used memory."),
    "drawbridge:gpu_memory_used:ratio": ("node, gpu, GPU_I_ID", "Used memory, as a part of the memory for programs."),
    "drawbridge:gpu_power:watts": ("node, gpu", "Power."),
    "drawbridge:gpu_temperature:celsius": ("node, gpu", "Temperature."),
    "drawbridge:gpu_xid:last": ("node, gpu", "The last Xid; NVIDIA's alone."),
    "drawbridge:gpu_nvlink:bytes_rate5m": ("node, gpu", "Traffic over all NVLinks; NVIDIA's alone."),
    "drawbridge:rail_up:bool": ("node, rail", "1 if all its links are up."),
    "drawbridge:rail_speed:bytes": ("node, rail", "Rate of its links in bytes per second."),
    "drawbridge:rail_pcie:ratio": ("node, rail", "PCIe speed times lanes, as a part of what the NIC can do."),
    "drawbridge:rail_received:bytes_rate5m": ("node, rail", "Traffic that it receives."),
    "drawbridge:rail_sent:bytes_rate5m": ("node, rail", "Traffic that it sends."),
    "drawbridge:rail_cnp_sent:rate5m": ("node, rail", "Congestion notifications that it sends."),
    "drawbridge:rail_cnp_handled:rate5m": ("node, rail", "Congestion notifications for which it sends more slowly."),
    "drawbridge:rail_cnp_ignored:rate5m": ("node, rail", "Congestion notifications that it ignores."),
    "drawbridge:rail_ecn_marked:rate5m": ("node, rail", "Packets that arrive with a mark (ECN)."),
    "drawbridge:rail_retransmits:rate5m": ("node, rail", "Losses after which it sends again."),
    "drawbridge:rail_pause_received:rate5m": ("node, rail", "Pause frames that stop it, of all priorities."),
    "drawbridge:rail_pause_sent:rate5m": ("node, rail", "Pause frames with which it stops its switch."),
    "drawbridge:rail_discards:rate5m": ("node, rail", "Packets that its ports drop."),
    "drawbridge:port_pause_received:rate5m": ("switch, port, node, rail, priority", "Pause frames that stop the port."),
    "drawbridge:port_pause_sent:rate5m": (
        "switch, port, node, rail, priority",
        "Pause frames with which it stops the other end.",
    ),
    "drawbridge:port_ecn_marked:rate5m": ("switch, port, node, rail, priority", "Packets that the queue marks."),
    "drawbridge:port_dropped:rate5m": ("switch, port, node, rail, priority", "Packets that the queue drops."),
    "drawbridge:port_storms:increase1h": (
        "switch, port, node, rail, priority",
        "How often the watchdog found it stuck.",
    ),
    "drawbridge:port_queue:bytes": ("switch, port, node, rail, priority", "Depth of the queue."),
    "drawbridge:node_job": ("node, job, user, account, partition", "1 for each job on a node; join it on node."),
    "drawbridge:slurm_nodes": ("state", "Nodes."),
    "drawbridge:slurm_jobs": ("partition, state", "Jobs."),
    "drawbridge:slurm_wait:ratio": ("partition", "Mean wait of jobs, over their mean run time, of one day."),
    "drawbridge:slurm_backfill:ratio": ("", "Part of the jobs that backfill starts, of one hour."),
    "drawbridge:storage_read:bytes_rate5m": ("node, fs", "Bytes that a node reads."),
    "drawbridge:storage_write:bytes_rate5m": ("node, fs", "Bytes that a node writes."),
    "drawbridge:storage_operations:rate5m": ("node, fs, operation", "Operations, those on metadata among them."),
    "drawbridge:storage_latency:seconds": ("node, fs, operation", "Mean time of an operation; NFS alone."),
    "drawbridge:storage_cache_hits:ratio": (
        "node, fs",
        "Part of what programs read that came from the cache; NFS alone.",
    ),
}
"""Labels and meaning of each series of the rules."""


@dataclass(frozen=True)
class Shape:
    """A site whose series are counted."""

    nodes: int = 10_000
    gpus: int = 8
    rails: int = 8
    rdma_devices: int = 10
    """Those for storage too."""
    ports: int = 24
    """Ports of switches for a node: for each rail one, and two of a link between a leaf and a spine."""
    switches: int = 2_000
    lossless: int = 1
    lossy: int = 1
    file_systems: int = 2
    mounts: int = 1
    jobs: int = 1
    """On a node."""
    partitions: int = 20
    units: int = 300
    """Groups of nodes with the same leaf switches."""


PER_NODE = 1_300
"""Most series of a node, all that is about it counted."""
TARGET = ("up", "scrape_duration_seconds", "scrape_samples_scraped", "scrape_samples_post_metric_relabeling")
SCRAPED = (*TARGET, "scrape_series_added")
"""Series that Prometheus makes for each target."""
GATE = 40
"""Of the gate on a node: states, events, verbs and their exit codes."""
FILES = 3
"""Text files of a host."""
OPERATIONS_GPFS, STATES_GPFS, WAITERS_GPFS = 6, 4, 5
_ALL_CLASSES = ("dropped", "queue")
"""What switches count for lossy classes too."""


def rows(shape: Shape) -> dict[str, float]:
    """Series for a node, by who writes them; those of a site divided among its nodes."""
    own = sum(_own(family, shape) for family in FAMILIES.values() if family.file not in (SWITCHES, GPFS))
    return {
        "node_exporter": _others(NODE_EXPORTER, shape),
        "exporter of GPUs": max(_others(name, shape) for name in (DCGM, AMD)),
        "targets": 2.0 * len(SCRAPED),
        "switches": sum(_own(family, shape) for family in FAMILIES.values() if family.file == SWITCHES),
        "GPFS": sum(_own(family, shape) for family in FAMILIES.values() if family.file == GPFS),
        "Slurm and proofs": own + _others(OPENMETRICS, shape),
        "gate": GATE,
        "recorded": sum(_recorded(name, labels, shape) for name, (labels, _about) in RECORDED.items()),
    }


def total(shape: Shape) -> int:
    """Series of the whole site."""
    return round(sum(rows(shape).values()) * shape.nodes)


def _others(name: str, shape: Shape) -> float:
    known = EXPORTERS[name].metrics
    return sum(_of_unit(metric, shape) for metric in known if not metric.instead)


def _of_unit(metric: Other, shape: Shape) -> float:
    operations = len(NFS_OPERATIONS.split("|"))
    return {
        HOST: 1,
        NODE: 1,
        FILE: FILES,
        GPU: shape.gpus,
        RDMA: shape.rdma_devices,
        RAIL: shape.rails,
        QUEUE: shape.rails * shape.lossless,
        MOUNT: shape.mounts,
        OPERATION: shape.mounts * operations,
        SITE: 1 / shape.nodes,
        PARTITION: shape.partitions / shape.nodes,
    }[metric.unit]


def _own(family: Family, shape: Shape) -> float:
    """Series of one of Drawbridge's families."""
    labels = set(family.labels)
    if family.file == GPFS:
        each = {"operation": OPERATIONS_GPFS, "state": STATES_GPFS, "waiter": WAITERS_GPFS}
        whole = shape.file_systems if labels & {"fs", "mount"} else 1
        return whole * next((number for label, number in each.items() if label in labels), 1)
    if family.file == SWITCHES:
        if "port" not in labels:
            return shape.switches / shape.nodes
        is_lossless = not any(word in family.name for word in _ALL_CLASSES)
        queues = shape.lossless if is_lossless else shape.lossless + shape.lossy
        return shape.ports * queues * (2 if "direction" in labels else 1)
    if "breaker" in labels:
        return (shape.units + 1) / shape.nodes
    if "node" in labels:
        return shape.jobs if "job" in labels else 1
    return (shape.partitions if "partition" in labels else 1) * (6 if "state" in labels else 1) / shape.nodes


def _recorded(name: str, labels: str, shape: Shape) -> float:
    names = set(labels.split(", "))
    if "port" in names:
        is_lossless = not any(word in name for word in _ALL_CLASSES)
        return shape.ports * (shape.lossless + (0 if is_lossless else shape.lossy))
    if "fs" in names:
        nfs, gpfs = (len(NFS_OPERATIONS.split("|")), OPERATIONS_GPFS) if "operation" in names else (1, 1)
        return shape.mounts * nfs + (0 if "NFS alone" in RECORDED[name][1] else shape.file_systems * gpfs)
    if "node" not in names:
        return (shape.partitions if "partition" in names else 1) * (6 if "state" in names else 1) / shape.nodes
    return shape.gpus if "gpu" in names else shape.rails if "rail" in names else shape.jobs


def recorded() -> list[dict[str, Any]]:
    """The recording rules."""
    return [rule for group in yaml.safe_load(RECORDING.read_text())["groups"] for rule in group["rules"]]


def tables() -> str:
    """All that the page derives from code."""
    parts = [
        "## Number of series\n",
        _numbers(Shape()),
        "## Recorded series\n",
        "| series | labels | meaning |\n|---|---|---|",
        *(f"| `{name}` | {labels} | {about} |" for name, (labels, about) in RECORDED.items()),
        "\n## Drawbridge's own metrics\n",
        "| metric | kind | labels | meaning | file |\n|---|---|---|---|---|",
        *(
            f"| `{it.name}` | {it.kind} | {', '.join(it.labels)} | {it.about} | `{it.file}` |"
            for it in FAMILIES.values()
        ),
        "\n## Metrics of others",
        *(_exporter(exporter) for exporter in EXPORTERS.values()),
        "",
    ]
    return "\n".join(parts)


def _exporter(exporter: Exporter) -> str:
    """The table of one exporter, and where its names are from."""
    lines = [
        f"\n### {re.sub(r' *[(].*', '', exporter.title)}\n",
        f"{exporter.title}. Names and values are from {exporter.source}.\n",
        "| metric | one series for each | meaning |\n|---|---|---|",
    ]
    for metric in exporter.metrics:
        newer = f", now `{metric.newer}`" if metric.newer else ""
        lines.append(f"| `{metric.name}`{newer} | {metric.unit} | {metric.about} |")
    return "\n".join(lines)


def _numbers(shape: Shape) -> str:
    found = rows(shape)
    another = {name: rows(Shape(jobs=2))[name] - number for name, number in found.items()}
    lines = [
        f"Of {shape.nodes:,} nodes with {shape.gpus} GPUs, {shape.rails} rails, {shape.lossless} lossless class,"
        f" {shape.file_systems} GPFS file systems and {shape.mounts} NFS mount:\n",
        "| from | series for each node | series of the site |\n|---|---|---|",
        *(f"| {name} | {number:.0f} | {number * shape.nodes:,.0f} |" for name, number in found.items()),
        f"| **all** | **{sum(found.values()):.0f}** | **{total(shape):,}** |",
        f"\nThe budget is {PER_NODE:,} series for each node. Each further job on a node adds"
        f" {sum(another.values()):.0f}.\n",
    ]
    return "\n".join(lines)
