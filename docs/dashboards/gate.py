# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate between Slurm and Kubernetes, and the drift check."""

from __future__ import annotations

from docs.dashboards.model import Board, Query, Row, areas, found, lines
from docs.dashboards.queries import HOST
from docs.dashboards.variables import GATED

READING = """
A node is **closed** (no pod of a tenant), **held** (by one job) or **dirty** (its job is over, its proof is missing).
No other state is good.

**Good:** closed and held add up to all nodes, dirty is short, the tables are empty.

**Bad:** *open* or *foreign*: pods of any tenant may run there. Use the runbook of the alert `DrawbridgeNodeUnguarded`.
"""
STATE = "drawbridge_gate_node_state"
AGE = f"time() - drawbridge_gate_reconciled_timestamp_seconds{{{HOST}}}"
FOUND = Row(
    "Found: empty is good",
    (
        found(
            "Nodes that are not guarded",
            "short",
            "The taint of the gate is missing (open) or unknown (foreign).",
            f'max by (instance, state) ({STATE}{{{HOST},state=~"open|foreign"}}) == 1',
            "now",
            "instance",
        ),
        found(
            "Nodes that stay dirty",
            "short",
            "For more than ten minutes. The drain reason names the pod or process that is left.",
            f'max by (instance) (min_over_time({STATE}{{{HOST},state="dirty"}}[10m])) == 1',
            "dirty",
            "instance",
        ),
        found(
            "Admission policies that changed",
            "short",
            "The opener refuses all jobs until they are those that gate.yml applied.",
            f"max by (instance) (drawbridge_gate_policies_in_force{{{HOST}}}) == 0",
            "in force",
            "instance",
        ),
        found(
            "Hosts whose timer is silent",
            "s",
            "No reconciliation without an error for five minutes.",
            f"max by (instance) ({AGE}) > 300",
            "since",
            "instance",
        ),
        found(
            "Refused runs",
            "short",
            "Runs of a verb that ended with an error in the chosen time. `open` refuses a job.",
            f'sum by (instance, verb, code) (increase(drawbridge_gate_runs_total{{{HOST},code!="0"}}[$__range])) > 0.5',
            "runs",
            "instance",
        ),
        found(
            "Crashes",
            "short",
            "Of a program of the gate, in the chosen time. Its log has the traceback.",
            f'sum by (instance) (increase(drawbridge_gate_events_total{{{HOST},event="crashed"}}[$__range])) > 0.5',
            "crashes",
            "instance",
        ),
        found(
            "Differences from the intent",
            "short",
            "Findings of the last drift check, by kind and layer.",
            "sum by (kind, layer) (drawbridge_report_findings) > 0",
            "findings",
        ),
    ),
)
OVER_TIME = Row(
    "Over time",
    (
        areas(
            "Nodes by state",
            "short",
            "Held follows the jobs that use Kubernetes.",
            Query(f"sum by (state) ({STATE}{{{HOST}}})", "{{state}}"),
        ),
        lines(
            "Runs by verb",
            "ops",
            "How often the gate's programs ran.",
            Query(f"sum by (verb) (rate(drawbridge_gate_runs_total{{{HOST}}}[$__rate_interval]))", "{{verb}}"),
        ),
        lines(
            "Time of a run",
            "s",
            "Mean, by verb. `open` is part of each job's start.",
            Query(
                f"sum by (verb) (rate(drawbridge_gate_seconds_total{{{HOST}}}[$__rate_interval]))"
                f" / sum by (verb) (rate(drawbridge_gate_runs_total{{{HOST}}}[$__rate_interval]))",
                "{{verb}}",
            ),
        ),
        lines(
            "Events",
            "ops",
            "What the gate did or refused, by the name in its log.",
            Query(f"sum by (event) (rate(drawbridge_gate_events_total{{{HOST}}}[$__rate_interval]))", "{{event}}"),
        ),
        lines(
            "Oldest reconciliation",
            "s",
            "Of all hosts. The timer runs twice a minute.",
            Query(f"max({AGE})", "oldest"),
        ),
        lines(
            "Age of the drift check",
            "s",
            "Since the last one began.",
            Query("min(time() - drawbridge_report_start_timestamp_seconds)", "age"),
        ),
    ),
)
BOARD = Board(
    "drawbridge-gate",
    "Drawbridge: gate",
    "States of nodes between Slurm and Kubernetes, refusals, and drift.",
    READING,
    (GATED,),
    (FOUND, OVER_TIME),
)
