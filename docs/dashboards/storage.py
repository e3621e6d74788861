# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""File systems as nodes see them."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, areas, found, lines
from docs.dashboards.queries import NODE
from docs.dashboards.variables import FILE_SYSTEMS, STORAGE_NODES

READING = """
These are the clients' numbers: bytes and operations of nodes, not of the servers.

**Good:** reads and writes follow the jobs, operations are few beside bytes, the tables are empty.

**Bad:** many operations with few bytes (small files), one job with most of them, threads that wait, a file system that
is not mounted. Peaks of writes are checkpoints.
"""
OF_NODES = f'{NODE},fs=~"$fs"'
READ = f"drawbridge:storage_read:bytes_rate5m{{{OF_NODES}}}"
WRITTEN = f"drawbridge:storage_write:bytes_rate5m{{{OF_NODES}}}"
OPERATIONS = f"drawbridge:storage_operations:rate5m{{{OF_NODES}}}"
LATENCY = f"drawbridge:storage_latency:seconds{{{OF_NODES}}}"
METADATA = f'drawbridge:storage_operations:rate5m{{{OF_NODES},operation!~"(?i)reads?|writes?"}}'
JOBS = f"drawbridge:node_job{{{NODE}}}"
FOUND = Row(
    "Found: empty is good",
    (
        found(
            "Jobs with many metadata operations",
            "ops",
            "More than 1,000 a second: opens, listings and changes of files. On shared nodes all jobs count together.",
            f"sum by (job, user) ({JOBS} * on (node) group_left () sum by (node) ({METADATA})) > 1000",
            "operations",
            "job",
        ),
        found(
            "Nodes that carry most of a file system's reads",
            "percentunit",
            "More than half of all reads by one node, while these are above 1 GB/s.",
            f"max by (node, fs) ({READ}) / on (fs) group_left () sum by (fs) ({READ}) > 0.5"
            f" and on (fs) sum by (fs) ({READ}) > 1e9",
            "share",
            "node",
        ),
        found(
            "File systems that are not mounted",
            "short",
            "A job that starts there fails, or writes to the local disk.",
            f"max by (node, mount) (gpfs_mount_status{{{NODE}}}) == 0",
            "mounted",
            "node",
        ),
        found(
            "Nodes with a thread that waits in GPFS",
            "s",
            "For more than a minute: on disks, servers or the network. `mmdiag --waiters` names the reason.",
            f"max by (node) (drawbridge_gpfs_longest_wait_seconds{{{NODE}}}) > 60",
            "waits for",
            "node",
        ),
        found(
            "Slow operations of NFS",
            "s",
            "The slowest of a hundred nodes needs more than a second for an operation.",
            f"quantile by (fs, operation) (0.99, {LATENCY}) > 1",
            "time",
        ),
        found(
            "Nodes whose GPFS is not active",
            "short",
            "The daemon's state. arbitrating: it cannot reach the quorum.",
            f'max by (node, state) (gpfs_state{{{NODE},state!="active"}}) == 1',
            "now",
            "node",
        ),
    ),
)
LOAD = Row(
    "Load",
    (
        areas("Read", "Bps", "By file system.", Query(f"sum by (fs) ({READ})", "{{fs}}")),
        areas("Written", "Bps", "By file system.", Query(f"sum by (fs) ({WRITTEN})", "{{fs}}")),
        lines(
            "Operations",
            "ops",
            "By kind, of all file systems.",
            Query(f"sum by (operation) ({OPERATIONS})", "{{operation}}"),
        ),
        lines("Nodes that read most", "Bps", "The ten most.", Query(f"topk(10, sum by (node) ({READ}))", "{{node}}")),
        lines(
            "Nodes that write most", "Bps", "The ten most.", Query(f"topk(10, sum by (node) ({WRITTEN}))", "{{node}}")
        ),
        lines(
            "Jobs with most metadata operations",
            "ops",
            "The ten most.",
            Query(
                f"topk(10, sum by (job, user) ({JOBS} * on (node) group_left () sum by (node) ({METADATA})))",
                "{{job}} of {{user}}",
            ),
        ),
        lines(
            "Time of an operation of NFS",
            "s",
            "The slowest of a hundred nodes, by kind. GPFS counts no times.",
            Query(f"quantile by (operation) (0.99, {LATENCY})", "{{operation}}"),
        ),
        lines(
            "Reads from the cache of NFS",
            "percentunit",
            "Share of what programs read that did not come from the server. The lowest node of each file system.",
            Query(f"min by (fs) (drawbridge:storage_cache_hits:ratio{{{OF_NODES}}})", "{{fs}}"),
            top=1,
        ),
        lines(
            "Threads that wait in GPFS",
            "short",
            "By what they wait for; the ten most.",
            Query(f"topk(10, sum by (waiter) (gpfs_waiter_info_count{{{NODE}}}))", "{{waiter}}"),
        ),
    ),
)
BOARD = Board(
    "drawbridge-storage",
    "Drawbridge: storage",
    "Bytes, operations and troubles of file systems, as nodes see them.",
    READING,
    (STORAGE_NODES, FILE_SYSTEMS),
    (FOUND, LOAD),
)
