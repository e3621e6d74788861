# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Made-up results of proofs: a real search over a simulated fabric, and measures of nodes with noise."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Limit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import (
    FabricSummary,
    Judged,
    NodeVerdict,
    ProofFinding,
    Result,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import (
    Search,
    pairs_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import Suspect

from .schedule.simulated import Fabric, Faults

RAIL = Limit(380.39, "Gb/s", True, "0.97 x 98.0 % (4096-byte packets over RoCEv2) x 400 Gb/s")
GROUP = Limit(340.0, "GB/s", True, "0.85 x 400 GB/s (8 rails x 50 GB/s)")
COPY = Limit(46.08, "GB/s", True, "0.80 x 91.4 % (256-byte payloads) x 63 GB/s (PCIe Gen5 x16)")
DISK = Limit(2.0, "GB/s", True, "1 node x 2 GB/s of each (intent)")
LATENCY = Limit(5.0, "us", False, "5 us through one leaf (published limit)")
LONG = "gpu-hall2-row07-rack11-slot{:04d}-training-cluster"


def example(nodes: int = 8, seed: int = 0, faulty: bool = True, per_unit: int = 32, name: str = "gpu{:03d}") -> Result:
    """A result of so many nodes with 8 rails, a leaf for each rail and unit.

    Its faults: a slow cable, a slow node, two nodes with a slow GPU, and with at least 4 units a slow leaf pair.
    The last node is skipped, and all others lack a tool.
    """
    luck = random.Random(seed)
    names = [name.format(number) for number in range(1, nodes + 1)]
    units = {f"su{first // per_unit + 1}": names[first : first + per_unit] for first in range(0, nodes, per_unit)}
    leaves = {unit: [f"leaf-{unit}-r{rail}" for rail in range(8)] for unit in units}
    gone = names[-1:] if faulty else []
    kept = {unit: [it for it in members if it not in gone] for unit, members in units.items()}
    site = sites.site_of(kept, {node: leaves[unit] for unit, members in kept.items() for node in members})
    faults = Faults(cables={(names[1], 3)}, slow={names[nodes // 2]}) if faulty else Faults()
    if faulty and len(units) > 3:
        faults.paths = {("leaf-su2-r5", "leaf-su4-r5"), ("leaf-su4-r5", "leaf-su2-r5")}
    search, measures = _searched(site, faults, luck)
    slow = set(names[-3:-1]) if faulty else set()
    measures += [it for node in names if node not in gone for it in _node(node, node in slow, luck)]
    findings = [_suspected(it) for it in search.verdict()] + [_slow(it) for it in measures if it.check == "GPU copies"]
    findings = [it for it in findings if it is not None] + (_missing(names[: len(names) - 1]) if faulty else [])
    bad = {node: it.text for it in findings if not it.warning for node in it.nodes}
    unit_of = {node: unit for unit, members in units.items() for node in members}
    covered = search.coverage()
    return Result(
        *("2.0.0", "hgx", f"2026-11-{20 + seed % 9}T02:00:00+00:00", f"2026-11-{20 + seed % 9}T02:31:07+00:00", True),
        nodes=tuple(_verdict(it, unit_of[it], bad.get(it, ""), it in gone) for it in names),
        measures=tuple(measures),
        findings=tuple(findings),
        leaves=leaves,
        fabric=FabricSummary(
            *(search.tests, search.rounds, search.seconds, pairs_of(site)[0]),
            *(covered.ports, covered.ports_passed, covered.leaf_pairs, covered.leaf_pairs_passed),
        ),
    )


def _searched(site: sites.Site, faults: Faults, luck: random.Random) -> tuple[Search, list[Judged]]:
    fabric, search, found = Fabric(site, faults), Search(site), []
    while tests := search.next_round():
        answers = {test: fabric.answer(test) for test in tests}
        found += [it for test in tests for it in _judged(test, fabric, luck)]
        search.take(answers)
    return search, found


def _judged(test: sites.Test, fabric: Fabric, luck: random.Random) -> Iterator[Judged]:
    whole = test.kind == sites.COLLECTIVE
    limit, name = (GROUP, "bus bandwidth") if whole else (RAIL, "rail bandwidth")
    for rail in [None] if whole else test.rails[: 1 if test.kind == sites.CROSSING else None]:
        alone = replace(test, rails=(rail,)) if rail is not None and test.kind != sites.CROSSING else test
        passed = fabric.answer(alone) is True
        value = limit.value * luck.uniform(*((1.002, 1.03) if passed else (0.5, 0.8)))
        yield _by(limit, "fabric", name, str(alone), value, test.nodes, rail)
    if test.kind == sites.PAIR:
        yield _by(LATENCY, "fabric", "rail latency", str(test), luck.uniform(3, 3.2), test.nodes, test.rails[0])


def _by(
    limit: Limit, check: str, name: str, where: str, value: float, nodes: Sequence[str], rail: int | None = None
) -> Judged:
    passed = value >= limit.value if limit.at_least else value <= limit.value
    derived = (limit.unit, limit.value, limit.at_least, limit.why)
    return Judged(check, name, where, value, *derived, passed, tuple(nodes), rail)


def _node(node: str, slow: bool, luck: random.Random) -> Iterator[Judged]:
    for gpu in range(8):
        value = COPY.value * (0.52 if slow and gpu == 5 else luck.uniform(1.01, 1.08))
        yield _by(COPY, "GPU copies", "host_to_device", f"{node} gpu{gpu}", value, [node])
    for name in ("read /gpfs/scratch", "write /gpfs/scratch"):
        yield _by(DISK, "file systems", name, node, luck.uniform(2.1, 2.2), [node])
    why = "the intent has no memory bandwidth of a socket"
    yield Judged("memory", "memory bandwidth", node, luck.uniform(480, 520), "GB/s", None, True, why, True, (node,))


def _suspected(it: Suspect) -> ProofFinding:
    where = " ".join([*it.nodes, *(f"rail{rail}" for rail in it.rails)]) if it.nodes else " <-> ".join(it.leaves)
    look = f"ethtool -m rail{it.rails[0]}" if it.rails else "the log of the group's tests"
    return ProofFinding(
        *("fabric", it.kind, f"{where}: tests with it failed, tests without it passed", look),
        *(it.nodes, it.rails, it.leaves, False, it.evidence),
    )


def _slow(it: Judged) -> ProofFinding | None:
    if it.passed or it.limit is None:
        return None
    text = f"{it.where}: {it.name} is {it.value:.1f} {it.unit}, below {it.limit:.1f} {it.unit} ({it.why})"
    look = f"nvidia-smi -q -i {it.where[-1]} -d PERFORMANCE"
    return ProofFinding(it.check, "limit", text, look, it.nodes)


def _missing(names: Sequence[str]) -> list[ProofFinding]:
    text = "{}: nvbandwidth is not installed, so NVLinks were not measured"
    look = "drawbridge_proof.tools.nvbandwidth"
    return [ProofFinding("NVLinks", "missing", text.format(it), look, (it,), warning=True) for it in names]


def _verdict(name: str, unit: str, why: str, gone: bool) -> NodeVerdict:
    verdict = "skipped" if gone else "failed" if why else "proved"
    reasons = ("it is drained: memory is replaced (admin)",) if gone else (why,) if why else ()
    return NodeVerdict(name, "h100", unit, verdict, reasons)
