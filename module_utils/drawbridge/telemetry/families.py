# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All metrics of Drawbridge's own telemetry programs: name, kind, labels, meaning and file, each declared once.

Names and units follow Prometheus' conventions: base units, and `_total` for counters. Metrics of the gate and of
reports are declared by their programs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COUNTER, GAUGE = "counter", "gauge"
SWITCHES, SLURM, GPFS, PROOF, HEALTH = "switches.prom", "slurm.prom", "gpfs.prom", "proof.prom", "health.prom"
"""Files in the folder of node_exporter's textfile collector, one for each program that writes one."""


@dataclass(frozen=True)
class Family:
    """One metric."""

    name: str
    kind: str
    labels: tuple[str, ...]
    about: str
    file: str


_PORT = ("switch", "port", "node", "rail")
_QUEUE = (*_PORT, "priority")
_ALL = (
    Family("drawbridge_switch_up", GAUGE, ("switch",), "1 if the last reading of the switch was complete.", SWITCHES),
    Family(
        "drawbridge_switch_read_timestamp_seconds", GAUGE, ("switch",), "Time of the last complete reading.", SWITCHES
    ),
    Family("drawbridge_switch_read_seconds", GAUGE, ("switch",), "Duration of the last reading.", SWITCHES),
    Family(
        "drawbridge_switch_pause_frames_total",
        COUNTER,
        (*_QUEUE, "direction"),
        "Pause frames of a priority that the port received (rx) or sent (tx).",
        SWITCHES,
    ),
    Family(
        "drawbridge_switch_ecn_marked_packets_total", COUNTER, _QUEUE, "Packets that the queue marked (ECN).", SWITCHES
    ),
    Family("drawbridge_switch_dropped_packets_total", COUNTER, _QUEUE, "Packets that the queue dropped.", SWITCHES),
    Family(
        "drawbridge_switch_watchdog_storms_total",
        COUNTER,
        _QUEUE,
        "How often the queue was stuck, by the PFC watchdog.",
        SWITCHES,
    ),
    Family("drawbridge_switch_queue_bytes", GAUGE, _QUEUE, "Present depth of the queue.", SWITCHES),
    Family("drawbridge_switch_queue_peak_bytes", GAUGE, _QUEUE, "Highest depth that the switch has seen.", SWITCHES),
    Family("drawbridge_slurm_up", GAUGE, (), "1 if slurmctld answered.", SLURM),
    Family("drawbridge_slurm_read_timestamp_seconds", GAUGE, (), "Time of the last answer of slurmctld.", SLURM),
    Family(
        "drawbridge_slurm_node_job_info",
        GAUGE,
        ("node", "job", "user", "account", "partition"),
        "1 for each job that runs on a node: join it on node.",
        SLURM,
    ),
    Family("drawbridge_slurm_node_state_info", GAUGE, ("node", "state"), "1 for the node's present state.", SLURM),
    Family(
        "drawbridge_slurm_node_drained_info",
        GAUGE,
        ("node", "origin", "reason"),
        "1 for a node that is drained or down; origin is a part of Drawbridge, slurm, or person.",
        SLURM,
    ),
    Family("drawbridge_slurm_node_drained_since_timestamp_seconds", GAUGE, ("node",), "Time of its drain.", SLURM),
    Family(
        "drawbridge_slurm_nodes",
        GAUGE,
        ("state",),
        "Nodes by base state; those with a drain are draining or drained.",
        SLURM,
    ),
    Family(
        "drawbridge_slurm_jobs",
        GAUGE,
        ("partition", "state"),
        "Jobs in the queue; each element of an array counts.",
        SLURM,
    ),
    Family(
        "drawbridge_slurm_oldest_pending_seconds",
        GAUGE,
        ("partition",),
        "Wait of the pending job that could have started first.",
        SLURM,
    ),
    Family("drawbridge_slurm_job_starts_total", COUNTER, ("partition",), "Jobs seen to start.", SLURM),
    Family(
        "drawbridge_slurm_job_wait_seconds_total",
        COUNTER,
        ("partition",),
        "Time from when they could start to their start, of jobs seen to start.",
        SLURM,
    ),
    Family("drawbridge_slurm_job_ends_total", COUNTER, ("partition",), "Jobs seen to end.", SLURM),
    Family("drawbridge_slurm_job_run_seconds_total", COUNTER, ("partition",), "Run time of jobs seen to end.", SLURM),
    Family("drawbridge_slurm_started_jobs_total", COUNTER, (), "Jobs that slurmctld has started (sdiag).", SLURM),
    Family(
        "drawbridge_slurm_backfilled_jobs_total",
        COUNTER,
        (),
        "Jobs that backfill has started since slurmctld's start.",
        SLURM,
    ),
    Family("drawbridge_slurm_backfill_cycle_seconds", GAUGE, (), "Duration of the last cycle of backfill.", SLURM),
    Family("drawbridge_slurm_backfill_queue_length", GAUGE, (), "Jobs that the last cycle of backfill saw.", SLURM),
    Family(
        "drawbridge_slurm_scheduler_cycle_seconds", GAUGE, (), "Duration of the last cycle of the scheduler.", SLURM
    ),
    Family("gpfs_state", GAUGE, ("state",), "1 for the daemon's present state.", GPFS),
    Family("gpfs_mount_status", GAUGE, ("mount",), "1 if the file system is mounted.", GPFS),
    Family("gpfs_perf_read_bytes_total", COUNTER, ("fs",), "Bytes that this node has read.", GPFS),
    Family("gpfs_perf_write_bytes_total", COUNTER, ("fs",), "Bytes that this node has written.", GPFS),
    Family(
        "gpfs_perf_operations_total",
        COUNTER,
        ("fs", "operation"),
        "Operations of this node: opens, closes, reads, writes, read_dir, inode_updates.",
        GPFS,
    ),
    Family("gpfs_waiter_info_count", GAUGE, ("waiter",), "Threads of the daemon that wait, by name.", GPFS),
    Family(
        "drawbridge_gpfs_longest_wait_seconds", GAUGE, (), "Longest wait of a thread of the daemon, 0 for none.", GPFS
    ),
    Family(
        "drawbridge_proof_passed_timestamp_seconds", GAUGE, ("node",), "End of the last proof that it passed.", PROOF
    ),
    Family("drawbridge_health_up", GAUGE, (), "1 if slurmctld answered the last look at findings.", HEALTH),
    Family(
        "drawbridge_health_look_timestamp_seconds", GAUGE, (), "Time of the last look that slurmctld answered.", HEALTH
    ),
    Family(
        "drawbridge_health_breaker_open",
        GAUGE,
        ("breaker",),
        "1 for an open breaker: findings drain none of its nodes.",
        HEALTH,
    ),
    Family(
        "drawbridge_health_findings",
        GAUGE,
        ("fault",),
        "Findings that nodes report, by fault: node, user, fabric.",
        HEALTH,
    ),
    Family(
        "drawbridge_health_drained_nodes",
        GAUGE,
        ("ends",),
        "Nodes that findings keep drained, by the end of the drain: heals, reboot, repair.",
        HEALTH,
    ),
    Family(
        "drawbridge_health_kept_nodes", GAUGE, (), "Nodes with findings that an open breaker keeps in service.", HEALTH
    ),
    Family("drawbridge_health_node_reboots", GAUGE, ("node",), "Reboots for findings in the last 30 days.", HEALTH),
    Family(
        "drawbridge_health_refused_changes",
        GAUGE,
        (),
        "Changes of nodes that Slurm refused or did not make, of the last look.",
        HEALTH,
    ),
)
FAMILIES: Mapping[str, Family] = {family.name: family for family in _ALL}
"""By name, in the order of files."""
