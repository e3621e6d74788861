# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm: nodes, jobs, waits, and the scheduler."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, areas, found, lines
from docs.dashboards.variables import PARTITIONS

READING = """
**Waits.** The ratio compares the wait of jobs that started with the run time of jobs that ended. Below 1 jobs wait for
less time than they run. A rising ratio with idle nodes means limits, reservations or drained nodes. Without idle nodes
it means demand.

**Backfill** starts small jobs in gaps. A ratio near 0 with a long queue: it does not reach them, or its cycle is long.

**Good:** the tables are empty. **Bad:** nodes are drained while jobs wait, or a job holds GPUs that it does not use.
"""
PARTITION = 'partition=~"$partition"'
WAITING = f'sum(drawbridge:slurm_jobs{{{PARTITION},state="pending"}}) > 0'
JOBS = f"drawbridge:node_job{{{PARTITION}}}"
FOUND = Row(
    "Found: empty is good",
    (
        found(
            "Nodes that are drained while jobs wait",
            "short",
            "Capacity that the waiting jobs lack. The origin says who set the drain.",
            f"max by (node, origin, reason) (drawbridge_slurm_node_drained_info) and on () {WAITING}",
            "drained",
            "node",
        ),
        found(
            "Partitions whose jobs wait longer than they run",
            "short",
            "Wait of jobs that started, over run time of jobs that ended.",
            f"max by (partition) (drawbridge:slurm_wait:ratio{{{PARTITION}}}) > 1",
            "wait / run time",
        ),
        found(
            "Jobs that hold GPUs and use none",
            "percentunit",
            "Busy for less than a tenth of 15 minutes. On shared nodes all jobs count together.",
            f"avg by (job, user, partition) (({JOBS} and on (node, job) drawbridge:node_job offset 15m)"
            " * on (node) group_left () avg by (node) (avg_over_time(drawbridge:gpu_busy:ratio[15m]))) < 0.1",
            "GPUs busy",
            "job",
        ),
        found(
            "Pending jobs that wait for more than a day",
            "s",
            "The job that could have started first, by partition. `squeue --start` and `scontrol show job` say why.",
            f"max by (partition) (drawbridge_slurm_oldest_pending_seconds{{{PARTITION}}}) > 86400",
            "waits for",
        ),
        found(
            "A slow scheduler",
            "s",
            "Backfill needs more than 30 seconds for a cycle: commands of users wait as well.",
            "max(drawbridge_slurm_backfill_cycle_seconds) > 30",
            "cycle",
        ),
    ),
)
QUEUE = Row(
    "Nodes and jobs",
    (
        areas(
            "Nodes by state",
            "short",
            "Drained nodes count as drained.",
            Query("sum by (state) (drawbridge:slurm_nodes)", "{{state}}"),
        ),
        areas(
            "Jobs by state",
            "short",
            "In the chosen partitions.",
            Query(f"sum by (state) (drawbridge:slurm_jobs{{{PARTITION}}})", "{{state}}"),
        ),
        areas(
            "Drained nodes by origin",
            "short",
            "Who drained them: health, gate, proof, another part of Drawbridge, or person.",
            Query("count by (origin) (drawbridge_slurm_node_drained_info)", "{{origin}}"),
        ),
    ),
)
WAITS = Row(
    "Waits and the scheduler",
    (
        lines(
            "Wait over run time",
            "short",
            "By partition. 1: jobs wait as long as they run.",
            Query(f"max by (partition) (drawbridge:slurm_wait:ratio{{{PARTITION}}})", "{{partition}}"),
        ),
        lines(
            "Oldest pending job",
            "s",
            "By partition: for how long the job waits that could have started first.",
            Query(f"max by (partition) (drawbridge_slurm_oldest_pending_seconds{{{PARTITION}}})", "{{partition}}"),
        ),
        lines(
            "Mean wait of jobs that started",
            "s",
            "By partition, in the last hour.",
            Query(
                f"sum by (partition) (increase(drawbridge_slurm_job_wait_seconds_total{{{PARTITION}}}[1h]))"
                f" / (sum by (partition) (increase(drawbridge_slurm_job_starts_total{{{PARTITION}}}[1h])) > 0)",
                "{{partition}}",
            ),
        ),
        lines(
            "Started by backfill",
            "percentunit",
            "Share of all starts.",
            Query("max(drawbridge:slurm_backfill:ratio)", "backfill"),
            top=1,
        ),
        lines(
            "Cycles",
            "s",
            "Duration of the last cycle. Above some seconds, commands of users become slow.",
            Query("max(drawbridge_slurm_backfill_cycle_seconds)", "backfill"),
            Query("max(drawbridge_slurm_scheduler_cycle_seconds)", "main scheduler"),
        ),
        lines(
            "Jobs that backfill saw",
            "short",
            "Fewer than pending: its limits (bf_max_job_test, bf_max_time) stop it.",
            Query("max(drawbridge_slurm_backfill_queue_length)", "seen"),
            Query('sum(drawbridge:slurm_jobs{state="pending"})', "pending"),
        ),
    ),
)
BOARD = Board(
    "drawbridge-slurm",
    "Drawbridge: Slurm",
    "Nodes, jobs, waits and the scheduler.",
    READING,
    (PARTITIONS,),
    (FOUND, QUEUE, WAITS),
    since="now-24h",
)
