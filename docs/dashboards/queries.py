# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of queries that several dashboards share. They read the recorded layer where it has a series."""

from __future__ import annotations

NODE = 'node=~"$node"'
HOST = 'instance=~"$node"'
"""Of the gate, whose controllers are no nodes."""
RAIL = 'node=~"$node",rail=~"$rail"'
PORT = 'switch=~"$switch",node=~"$node",rail=~"$rail"'
ONE_CABLE = "switch, port, node, rail"
WHILE_IT_RUNS = 'and on (node) drawbridge:node_job{job="$job"}'
BUSY_RAIL = "1e9"
"""Bytes per second from which a node's usual rail is compared with the others: 8 Gbit/s."""
USED_RAIL = "1e8"
"""From here on a rail has traffic at all. Jobs with few GPUs use few rails."""


def rail(name: str) -> str:
    """A recorded rate of rails."""
    return f"drawbridge:rail_{name}:rate5m{{{RAIL}}}"


def port(name: str) -> str:
    """A recorded rate of switch ports."""
    return f"drawbridge:port_{name}:rate5m{{{PORT}}}"


def of_job(series: str) -> str:
    """A series of the job's nodes, for as long as the job runs there."""
    return f"{series}{{{NODE}}} {WHILE_IT_RUNS}"


def mean_of_job(series: str) -> str:
    """Its mean over the dashboard's time, as far as the job ran."""
    return f"avg_over_time(({of_job(series)})[$__range:$__interval])"


def slower(rate: str, share_below: str, busy: str) -> str:
    """Rails with less than this share of what their node's usual rail carries, while that is busy: the share."""
    usual = f"quantile by (node) (0.5, {rate})"
    share = f"max by (node, rail) ({rate}) / on (node) group_left () {usual}"
    return f"{share} < {share_below} and on (node) {usual} > {busy}"
