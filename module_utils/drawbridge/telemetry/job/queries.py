# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job as queries to Prometheus: recorded series of its nodes while it ran. Pure.

Their number does not grow with the job.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .text import Job

OF = "of"
"""Each value has this label, with the name of the question that it answers."""
GPUS, NETWORK, CONGESTION, STORAGE = "gpus", "network", "congestion", "storage"
IDLE = 0.05
"""A GPU that is busy for less is idle at that moment."""
MOSTLY = 0.5
"""Part of the time in which a GPU is idle, from which it is odd."""
BUSY_RAIL = 1e8
"""Bytes per second. Rails of a node whose median carries less are not compared."""
POINTS = 120
"""Moments at which idle GPUs are counted."""
RATE_S = 300
"""The recorded rates look back so long, so that they show the job alone only after that time."""
SCRAPE_S = 60
"""The recorded values may be as old."""
MOST_NODE_S = 1000 * 86400
"""Of longer jobs of many nodes only the end is read, so that a query has a limit: a thousand nodes for a day."""
LEAST_S = 120
"""Shorter jobs have too few samples for a report."""
CONGESTED = (
    *("pause_received", "pause_sent", "cnp_sent", "cnp_handled", "cnp_ignored", "ecn_marked", "retransmits"),
    "discards",
)
"""Rates of a rail."""


class Query(NamedTuple):
    """A query, and the time at which Prometheus evaluates it."""

    text: str
    at: float


class Window(NamedTuple):
    """The time that is read, up to `end`."""

    end: float
    seconds: float
    rates_s: float
    """Of recorded rates, at whose beginning the job alone was seen."""
    cut: bool
    """Whether the job's beginning is left out."""


def window(job: Job, now: float) -> Window:
    """The end of the job that is read: without the time in which recorded values still show what ran before it."""
    ran = job.run_s(now)
    most = max(3600.0, MOST_NODE_S / max(1, len(job.nodes)))
    cut = ran > most
    whole = min(ran, most)
    seconds = whole if cut or ran < 10 * SCRAPE_S else whole - SCRAPE_S
    rates = whole if cut or ran < 3 * RATE_S else whole - RATE_S
    return Window(job.ended or now, max(1.0, seconds), max(1.0, rates), cut)


def queries(job: Job, now: float) -> dict[str, Query]:
    """The queries by what they are about; none for a job that has not run."""
    if not job.nodes or job.run_s(now) <= 0:
        return {}
    seen = window(job, now)
    nodes = _nodes(job.nodes)

    def gauge(name: str) -> str:
        return f"drawbridge:{name}{{{nodes}}}[{seen.seconds:.0f}s]"

    def rate(name: str) -> str:
        return f"drawbridge:{name}{{{nodes}}}[{seen.rates_s:.0f}s]"

    moments = f"[{seen.seconds:.0f}s:{max(15, -(-seen.seconds // POINTS)):.0f}s]"
    idle = f"avg_over_time((drawbridge:gpu_busy:ratio{{{nodes}}} < bool {IDLE}){moments})"
    parts = {GPUS: _gpus(gauge, idle), NETWORK: _network(gauge, rate)}
    parts |= {CONGESTION: _congestion(rate), STORAGE: _storage(rate)}
    return {name: Query(_joined(questions), seen.end) for name, questions in parts.items()}


def _nodes(names: tuple[str, ...]) -> str:
    """A matcher. Prometheus finds the names of a plain alternation in a table, so nothing is folded."""
    if len(names) == 1:
        return f'node="{names[0]}"'
    return f'node=~"{"|".join(name.replace(".", "[.]") for name in names)}"'


def _joined(questions: Mapping[str, str]) -> str:
    """All questions as one query, whose values have the question's name."""
    return " or ".join(f'label_replace({text}, "{OF}", "{name}", "", "")' for name, text in questions.items())


def _gpus(gauge: Callable[[str], str], idle: str) -> dict[str, str]:
    busy = f"avg_over_time({gauge('gpu_busy:ratio')})"
    power = f"avg_over_time({gauge('gpu_power:watts')})"
    xid = gauge("gpu_xid:last")
    return {
        "gpus": f"count({busy})",
        "busy": f"avg({busy})",
        "least_busy": f"bottomk(1, {busy})",
        "idle": f"topk(1, {idle})",
        "idle_gpus": f"count(quantile_over_time({MOSTLY}, {gauge('gpu_busy:ratio')}) < {IDLE})",
        "sm_active": f"avg(avg_over_time({gauge('gpu_sm_active:ratio')}))",
        "memory": f"topk(1, max_over_time({gauge('gpu_memory_used:ratio')}))",
        "memory_bytes": f"max(max_over_time({gauge('gpu_memory_used:bytes')}))",
        "power": f"avg({power})",
        "powered": f"count({power})",
        "least_power": f"bottomk(1, {power} / on() group_left() quantile(0.5, {power}))",
        "xid": f"topk(1, max_over_time({xid}) > 0 and changes({xid}) > 0)",
    }


def _network(gauge: Callable[[str], str], rate: Callable[[str], str]) -> dict[str, str]:
    """Rails are compared with those of their own node: nodes of one job may do different work."""
    found = {}
    for name in ("sent", "received"):
        mean = f"avg_over_time({rate(f'rail_{name}:bytes_rate5m')})"
        median = f"(quantile by (node) (0.5, {mean}) > {BUSY_RAIL:.0f})"
        found[name] = f"avg({mean})"
        found[f"slowest_{name}"] = f"bottomk(1, {mean} / on(node) group_left() {median})"
    return {**found, "rail_down": f"topk(1, 1 - avg_over_time({gauge('rail_up:bool')}))"}


def _congestion(rate: Callable[[str], str]) -> dict[str, str]:
    """The rail with the highest rate of each counter, and the switch port that dropped most. 0 is an answer, too."""
    rails = {name: f"topk(1, avg_over_time({rate(f'rail_{name}:rate5m')}))" for name in CONGESTED}
    dropped = f"sum by (switch, port, node, rail) (avg_over_time({rate('port_dropped:rate5m')}))"
    return {**rails, "port_dropped": f"topk(1, {dropped})"}


def _storage(rate: Callable[[str], str]) -> dict[str, str]:
    """The file systems with the most traffic of all nodes together."""
    return {
        name: f"topk(3, sum by (fs) (avg_over_time({rate(f'storage_{name}:bytes_rate5m')})))"
        for name in ("read", "write")
    }
