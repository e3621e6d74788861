# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Judges measures: each one by its limit, then beside its mates in the node and in the fleet."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median, quantiles

from ...core import hostlist
from .. import limits
from ..limits import Derived, NoLimit, number
from ..measure import Found, Measure, Missing, Remark
from ..node import ProofNode
from ..result import Judged, ProofFinding
from .check import Check
from .table import WARNINGS

MATES_SHARE = 0.95
"""Of the median of the others in a node: 5 % of difference between the GPUs of a node is normal."""
SIGMAS, FLEET_SHARE = 6, 0.03
"""An outlier of the fleet is this many standard deviations worse than the median, and at least this share of it."""
SIGMA = 1.4826
"""Standard deviation of normal noise, for 1 of the median absolute deviation; outliers don't widen it."""
FEWEST = 8
"""Measures below which a fleet has no usual value."""
LEARNED_PERCENT, LEARNED_SHARE = 5, 0.97
"""A learned limit is this share of this percentile."""
LEAST_DIGITS = 4
PACKETS = "packets"
VERSIONS, COMPARED, FIRMWARE = "versions", ("kernel", "GPU driver"), "firmware of "
"""Name of the comparison. Values of `depends` that equal nodes have alike; others are a node's own."""
_RAIL = re.compile(r"\brail(\d+)\b")


def limit_of(node: ProofNode, check: Check, measure: Measure) -> Derived:
    """The limit of the site if it has one for this measure, or else the derived one."""
    derived, own = check.limit(node, measure), node.limits.get(measure.name)
    return derived if own is None else limits.overridden(derived, float(own))


def judge_all(node: ProofNode, check: Check, found: Sequence[Found]) -> tuple[list[Judged], list[ProofFinding]]:
    """Measures of one check on one node with their limits, and the findings about them.

    A finding about a class is the same for all its nodes and names none of them.
    """
    measures = [(it, limit_of(node, check, it)) for it in found if isinstance(it, Measure)]
    judged = [_judged(node, check, *it) for it in measures]
    findings = [_other(node, check, it) for it in found if not isinstance(it, Measure)]
    faults = [it for it in (limits.judge(*it) for it in measures) if it]
    return judged, [*findings, *_beyond(node, check, faults), *_slower_than_mates(judged, check)]


def _judged(node: ProofNode, check: Check, measure: Measure, limit: Derived) -> Judged:
    return Judged(
        check=check.name,
        name=measure.name,
        where=measure.where,
        value=measure.value,
        unit=measure.unit,
        limit=None if isinstance(limit, NoLimit) else limit.value,
        at_least=limit.at_least,
        why=limit.why,
        passed=limits.judge(measure, limit) is None,
        nodes=(node.name,),
        rail=next(iter(_rails(measure.where)), None),
    )


def _rails(where: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(int(it) for it in _RAIL.findall(where)))


def _beyond(node: ProofNode, check: Check, faults: Sequence[limits.Finding]) -> Iterator[ProofFinding]:
    """One finding for each part: a disk that is slow both ways has one fault. The worst measure comes first."""
    parts: dict[tuple[str, str], list[limits.Finding]] = {}
    for it in faults:
        parts.setdefault((it.measure.where, it.measure.name.partition(" of /")[2]), []).append(it)
    for some in parts.values():
        first, *others = sorted(some, key=_share)
        also = tuple(it.fact for it in others)
        rails, warning = _rails(first.measure.where), first.warning
        yield ProofFinding(
            check.name, "limit", first.fact, first.look, (node.name,), rails, warning=warning, evidence=also
        )


def _share(fault: limits.Finding) -> float:
    """How near a measure is to its limit: 1 at the limit, 0 at the worst."""
    value, limit = fault.measure.value, fault.limit.value
    return (value / limit if fault.limit.at_least else limit / value) if value and limit else 0.0


def _other(node: ProofNode, check: Check, found: Missing | Remark) -> ProofFinding:
    """The finding of a measurement that did not happen, or of a remark."""
    nodes = () if found.where.startswith("class ") else (node.name,)
    rails, warning = _rails(found.where), found.name in WARNINGS
    if isinstance(found, Missing):
        text = f"{found.where}: {found.name} was not measured: {found.why}"
        return ProofFinding(check.name, "missing", text, check.meaning, nodes, rails, warning=warning)
    text = f"{found.where}: {found.name}: {found.why}"
    look = check.meaning if nodes else "tools of the site in drawbridge_proof.tools"
    return ProofFinding(check.name, "remark", text, look, nodes, rails, warning=warning or found.warning)


def _by(measures: Sequence[Judged], classes: Mapping[str, str]) -> Iterator[list[Judged]]:
    """Measures of one check and one name on nodes of one class, whose limits have one derivation.

    A path over a spine has another latency than one within a leaf, also where the site set one limit for both.
    Numbers of packets are left out: they follow from the number of senders.
    """
    groups: dict[tuple[str, str, str, str], list[Judged]] = {}
    for it in (row for row in measures if row.unit != PACKETS):
        node_class = classes.get(it.nodes[0], "") if it.nodes else ""
        groups.setdefault((it.check, it.name, it.why, node_class), []).append(it)
    yield from groups.values()


def _worse_by(row: Judged, usual: float) -> float:
    """How much worse it is than the usual value, in its unit; negative for a better one."""
    return usual - row.value if row.at_least else row.value - usual


def _slower_than_mates(judged: Sequence[Judged], check: Check) -> Iterator[ProofFinding]:
    """GPUs or rails within the limit, but worse than the others of their node."""
    for group in _by(judged, {}):
        for row in group:
            others = [it.value for it in group if it is not row]
            usual = median(others) if others else row.value
            if row.passed and _worse_by(row, usual) > (1 - MATES_SHARE) * usual:
                what = f"the median of the other {len(others)} in the node" if len(others) > 1 else "the other one"
                yield _outlier(row, usual, what, check.meaning)


def _outlier(row: Judged, usual: float, what: str, look: str) -> ProofFinding:
    share, side = 100 * _worse_by(row, usual) / usual, "below" if row.at_least else "above"
    value = f"{row.where}: {row.name} is {number(row.value)} {row.unit}"
    text = f"{value}, {number(share)} % {side} {what}, {number(usual)} {row.unit}"
    return ProofFinding(row.check, "remark", text, look, row.nodes, _rails(row.where), warning=True)


def outliers(measures: Sequence[Judged], classes: Mapping[str, str] | None = None) -> list[ProofFinding]:
    """Warnings about measures that pass, but are much worse than those of equal nodes.

    `classes` is the class by node; without it, all nodes count as equal.
    """
    found: list[ProofFinding] = []
    for group in _by(measures, classes or {}):
        usual, most = _usual(group)
        what = f"the median of {len(group)} measurements"
        worse = [it for it in group if it.passed and _worse_by(it, usual) > most]
        found += [_outlier(it, usual, what, f"the same test again, then {it.check} of its mates") for it in worse]
    return found


def odd_versions(versions: Mapping[str, Mapping[str, str]], builds: Mapping[str, ProofNode]) -> list[ProofFinding]:
    """Warnings about nodes with another kernel, driver or firmware than most nodes of their class.

    `versions` has names and versions of each node, `builds` the node as checks see it.
    """
    held: dict[tuple[str, str], dict[str, str]] = {}
    for node, own in versions.items():
        for name in own:
            if name in COMPARED or name.startswith(FIRMWARE):
                held.setdefault((builds[node].node_class, name), {})[node] = own[name]
    odd: dict[tuple[str, str, str], list[str]] = {}
    for (_class, name), by_node in held.items():
        [(usual, count)] = Counter(by_node.values()).most_common(1)
        most = f"{usual} on {count} of {len(by_node)} nodes"
        for node, version in by_node.items() if 2 * count > len(by_node) else ():
            if version != usual:
                odd.setdefault((node, version, most), []).append(name)
    return [_odd(builds[node], node, version, most, names) for (node, version, most), names in odd.items()]


def _odd(build: ProofNode, node: str, version: str, most: str, names: Sequence[str]) -> ProofFinding:
    devices = [name[len(FIRMWARE) :] for name in names if name.startswith(FIRMWARE)]
    parts = [name for name in names if name in COMPARED]
    parts += [f"{FIRMWARE}{hostlist.compress(devices)}"] if devices else []
    rails = tuple(at for at, rail in enumerate(build.rails) if rail.rdma in devices)
    text = f"{node}: {' and '.join(parts)} is {version}, but {most}"
    look = "the versions of its mates: bring this node to them, or go on with the update"
    return ProofFinding(VERSIONS, "remark", text, look, (node,), rails, warning=True)


def _usual(group: Sequence[Judged]) -> tuple[float, float]:
    """The median, and how much worse a measure may be."""
    values = [it.value for it in group]
    usual = median(values)
    if len(values) < FEWEST:
        return usual, math.inf
    deviation = median([abs(value - usual) for value in values])
    return usual, max(SIGMAS * SIGMA * deviation, FLEET_SHARE * usual)


def learn(measures: Sequence[Judged], classes: Mapping[str, str] | None = None) -> Mapping[str, float]:
    """Limits from the site's own nodes, by the name of the measure, in its unit.

    Outliers teach nothing. A limit is the site's and not a class's: it is that of the weakest class.
    """
    learned: dict[str, list[tuple[float, bool]]] = {}
    for group in _by(measures, classes or {}):
        usual, most = _usual(group)
        values = [it.value for it in group if _worse_by(it, usual) <= most]
        if len(group) >= FEWEST:
            at_least = group[0].at_least
            learned.setdefault(group[0].name, []).append((_learned(values, at_least), at_least))
    return {name: (min(some) if some[0][1] else max(some))[0] for name, some in sorted(learned.items())}


def _learned(values: Sequence[float], at_least: bool) -> float:
    """The limit, rounded away from the values."""
    cuts = quantiles(values, n=100, method="inclusive")
    value = cuts[LEARNED_PERCENT - 1] * LEARNED_SHARE if at_least else cuts[-LEARNED_PERCENT] / LEARNED_SHARE
    scale = 10.0 ** (math.floor(math.log10(value)) + 1 - LEAST_DIGITS)
    return round((math.floor if at_least else math.ceil)(value / scale) * scale, 6)


def limit_lines(learned: Mapping[str, float]) -> list[str]:
    """The lines of drawbridge_proof with which the site adopts these limits."""
    return [
        "drawbridge_proof:",
        "  limits:",
        *(f'    - {{measure: "{name}", value: "{number(it, 6)}"}}' for name, it in learned.items()),
    ]
