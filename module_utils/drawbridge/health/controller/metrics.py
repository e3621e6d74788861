# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of findings and breakers: the families, and samples of one look. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from ...telemetry.exposition import Sample
from ..decide import Seen
from ..finding import ENDS, FAULTS, HEALS, Finding, heaviest, of_reason

UP, LOOKED = "drawbridge_health_up", "drawbridge_health_look_timestamp_seconds"
OPEN, FINDINGS = "drawbridge_health_breaker_open", "drawbridge_health_findings"
DRAINED, KEPT = "drawbridge_health_drained_nodes", "drawbridge_health_kept_nodes"
REBOOTS, REFUSED = "drawbridge_health_node_reboots", "drawbridge_health_refused_changes"


def silent(breakers: Iterable[str], opened: Collection[str], looked: float) -> list[Sample]:
    """Samples while slurmctld is silent: breakers are as they were."""
    return [Sample(UP, {}, 0), Sample(LOOKED, {}, looked), *_breakers(breakers, opened)]


def samples(
    nodes: Sequence[Seen],
    found: Mapping[str, Sequence[Finding]],
    breakers: Iterable[str],
    opened: Collection[str],
    reboots: Mapping[str, Sequence[float]],
    refused: int,
    looked: float,
) -> list[Sample]:
    """Samples of a look. `found` has the findings by node, `reboots` the times of reboots by node."""
    faults = Counter(it.fault for some in found.values() for it in some)
    ends = Counter(heaviest(of_reason(it.reason)) for it in nodes if it.ours)
    kept = sum(bool(found.get(it.name) and it.report.kept) for it in nodes if it.comment and not it.unavailable)
    return [
        Sample(UP, {}, 1),
        Sample(LOOKED, {}, looked),
        *_breakers(breakers, opened),
        *(Sample(FINDINGS, {"fault": fault}, faults[fault]) for fault in FAULTS),
        *(Sample(DRAINED, {"ends": "heals" if end == HEALS else end}, ends[end]) for end in ENDS),
        Sample(KEPT, {}, kept),
        *(Sample(REBOOTS, {"node": name}, len(times)) for name, times in sorted(reboots.items())),
        Sample(REFUSED, {}, refused),
    ]


def _breakers(names: Iterable[str], opened: Collection[str]) -> list[Sample]:
    """All of the site, and open ones of units that the intent has no more."""
    every = dict.fromkeys([*names, *opened])
    return [Sample(OPEN, {"breaker": name}, float(name in opened)) for name in every]
