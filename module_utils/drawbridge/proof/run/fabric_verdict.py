# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From what nodes measured in a round to the outcome of each test, with the limit that judged each measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .. import collectives, limits
from ..limits import Derived, NoLimit, judge, overridden
from ..measure import Found, Limit, Measure, Missing
from ..result import Judged, ProofFinding
from ..schedule.site import COLLECTIVE, CROSSING, INCAST, MILD, Site, Test, uplink_flows
from ..schedule.state import Outcome
from . import traffic
from .settings import Settings
from .traffic import BANDWIDTH, LATENCY, PATH_MTU, READ_LATENCY, Flow

FABRIC = "fabric"
INCAST_BANDWIDTH, INCAST_SHARE = "incast bandwidth", 0.9
"""What all senders of an incast get through together, and its least share of the line rate."""
DROPS, MARKS, NOTIFICATIONS, PAUSED = "dropped packets", "ECN marks", "congestion notifications", "pauses received"
IN_CLASS = "packets in the lossless class"
COUNTERS = (DROPS, MARKS, NOTIFICATIONS, PAUSED, IN_CLASS)
"""Counters of an incast, which the worker reads before and after it."""
COUNTED: Mapping[str, Limit] = {
    DROPS: Limit(0, "packets", False, "the lossless class drops nothing"),
    MARKS: Limit(1, "packets", True, "switches mark packets of many senders to one rail"),
    NOTIFICATIONS: Limit(1, "packets", True, "a receiver answers marks with notifications"),
    IN_CLASS: Limit(90, "%", True, "tests carry the intent's DSCP"),
}
ECN = "ECN thresholds of the switches and DCQCN of the NICs, against the intent"
BUS_BANDWIDTH = "bus bandwidth"
SAME_LEAF, OVER_SPINE = 1, 3
"""Switches between two rails."""


ByPlace = Mapping[tuple[str, str], Found]
"""Findings by name and place."""


@dataclass(frozen=True)
class Round:
    """The tests that ran at the same time, and what all nodes found, by the number of the test."""

    settings: Settings
    site: Site
    tests: Sequence[Test]
    found: Mapping[int, Sequence[Found]]
    phases: Sequence[str] = (BANDWIDTH,)
    collective: bool = False
    """Whether collectives ran as such, and not as rings of perftest."""

    @cached_property
    def _uplinks(self) -> Mapping[str, int]:
        return uplink_flows(self.site, self.tests)

    def judged(self) -> tuple[dict[Test, Outcome], list[Judged]]:
        """The outcome of each test, and all its measures with their limits."""
        outcomes: dict[Test, Outcome] = {}
        measures: list[Judged] = []
        flows = traffic.flows(self.tests)
        of_test: dict[int, list[Flow]] = {}
        for flow in flows:
            of_test.setdefault(flow.test, []).append(flow)
        for number, test in enumerate(self.tests):
            some = list(self._of(test, of_test[number], _by_place(self.found.get(number, ()))))
            measures += [it for it in some if isinstance(it, Judged)]
            missing = [it for it in some if isinstance(it, Missing)]
            outcomes[test] = missing[0] if missing else all(it.passed for it in some if isinstance(it, Judged))
        return outcomes, measures

    def _of(self, test: Test, flows: Sequence[Flow], found: ByPlace) -> Iterator[Judged | Missing]:
        if test.kind == COLLECTIVE and self.collective:
            yield self._collective(test, found)
            return
        for flow in flows:
            for phase in traffic.phases(test, self.phases):
                yield from self._flow(test, flow, phase, found)
        if test.kind == INCAST:
            yield from self._incast(test, flows, found)

    def _flow(self, test: Test, flow: Flow, phase: str, found: ByPlace) -> Iterator[Judged | Missing]:
        names = (phase, PATH_MTU) if phase == BANDWIDTH else (phase,)
        for name in names:
            it = _one(found, name, flow.where)
            if isinstance(it, Missing):
                yield it
                # without a value there is no path to judge either
                return
            # many senders share the line of their receiver
            if not (test.kind == INCAST and name == BANDWIDTH):
                yield self._judge(it, self.limit(flow, name), (flow.sender, flow.receiver), flow.sender_rail)

    def limit(self, flow: Flow, name: str) -> Derived:
        """The limit of a flow's measure: that of the site, or the derived one."""
        node, peer = self.settings.build(flow.sender), self.settings.build(flow.receiver)
        if not (node.mtu_bytes and peer.mtu_bytes):
            return NoLimit("the network is the site's", _UNITS[name], name in (BANDWIDTH, PATH_MTU))
        if name == BANDWIDTH:
            derived = self._bandwidth(flow)
        elif name == PATH_MTU:
            derived = limits.path_mtu(min(node.mtu_bytes, peer.mtu_bytes))
        else:
            derived = limits.rail_latency(SAME_LEAF if self._in_leaf(flow) else OVER_SPINE, name == READ_LATENCY)
        return _of_site(derived, name, node.limits)

    def _bandwidth(self, flow: Flow) -> Derived:
        node, peer = self.settings.build(flow.sender), self.settings.build(flow.receiver)
        gbps = min(node.rails[flow.sender_rail].gbps, peer.rails[flow.receiver_rail].gbps)
        if not gbps:
            return NoLimit("the intent has no line rate of the rail", "Gb/s")
        mtu = limits.roce_mtu(min(node.mtu_bytes, peer.mtu_bytes))
        ours, theirs = self._leaves(flow)
        derived = limits.rail_bandwidth(gbps, mtu, node.fabric)
        return derived if ours == theirs else self._over_uplinks(derived, (ours, theirs), self._uplinks, gbps)

    def _in_leaf(self, flow: Flow) -> bool:
        """Whether it should stay within a leaf. If two cables of a node are swapped, a crossing in its unit does."""
        ours, theirs = self._leaves(flow)
        mates = self.site.unit_of[flow.sender] == self.site.unit_of[flow.receiver]
        return ours == theirs or (mates and self.tests[flow.test].kind == CROSSING)

    def _leaves(self, flow: Flow) -> tuple[str, str]:
        return self._leaf(flow.sender, flow.sender_rail), self._leaf(flow.receiver, flow.receiver_rail)

    def _leaf(self, name: str, rail: int) -> str:
        return self.site.leaves[self.site.unit_of[name]][rail]

    def _incast(self, test: Test, flows: Sequence[Flow], found: ByPlace) -> Iterator[Judged | Missing]:
        """All senders together fill the receiver's line, and no packet is lost."""
        for rail in test.rails:
            to_rail = [_one(found, BANDWIDTH, flow.where) for flow in flows if flow.receiver_rail == rail]
            if not all(isinstance(it, Measure) for it in to_rail):
                continue
            where = f"{','.join(test.nodes[1:])} -> {test.nodes[0]} rail{rail}"
            total = Measure(INCAST_BANDWIDTH, sum(it.value for it in to_rail if isinstance(it, Measure)), "Gb/s", where)
            yield self._judge(total, self._incast_limit(test, rail), test.nodes, rail)
            yield from self._counted(test, rail, found)

    def _counted(self, test: Test, rail: int, found: ByPlace) -> Iterator[Judged]:
        """Counters of an incast: nothing is lost, the lossless class carries it, and marks slow the senders.

        A counter that a driver lacks is no fault of the node: warnings() names it.
        """
        marks = self.settings.build(test.nodes[0]).dcqcn
        for name, limit in COUNTED.items():
            for node in test.nodes:
                it = found.get((name, f"{node} rail{rail}"))
                if isinstance(it, Measure) and (marks or name not in (MARKS, NOTIFICATIONS)):
                    yield self._judge(it, limit, (node,), rail)

    def warnings(self, outcomes: Mapping[Test, Outcome]) -> list[ProofFinding]:
        """What the counters of incasts that passed say, once for each class of nodes."""
        found: dict[ProofFinding, None] = {}
        for number, test in enumerate(self.tests):
            sound = test.kind == INCAST and outcomes[test] is True
            for it in self.found.get(number, ()) if sound else ():
                name = self.settings.placed[it.where.split()[0]].node_class
                if isinstance(it, Missing) and it.name in COUNTERS:
                    text = f"class {name}: {it.name} of an incast are not known: {it.why}"
                    found[ProofFinding(FABRIC, "missing", text, "ethtool -S on a node", warning=True)] = None
                elif isinstance(it, Measure) and it.name == PAUSED and it.value and self._mild(test):
                    text = f"class {name}: few senders to one rail were paused, although ECN should slow them first"
                    found[ProofFinding(FABRIC, "remark", text, ECN, warning=True)] = None
        return list(found)

    def _mild(self, test: Test) -> bool:
        """Whether ECN should slow an incast before pauses do: few senders, and no uplinks on the way."""
        leaves = {self._leaf(name, rail) for name in test.nodes for rail in test.rails[:1]}
        return len(test.nodes) <= MILD + 1 and len(leaves) == 1

    def _incast_limit(self, test: Test, rail: int) -> Derived:
        receiver = test.nodes[0]
        node = self.settings.build(receiver)
        gbps = node.rails[rail].gbps
        if not gbps or not node.mtu_bytes:
            return NoLimit("the intent has no line rate of the rail", "Gb/s")
        share = limits.wire_share(limits.roce_mtu(node.mtu_bytes), node.fabric)
        why = f"{INCAST_SHARE} x {100 * share:.1f} % x {gbps} Gb/s of the receiver's rail"
        derived = Limit(INCAST_SHARE * share * gbps, "Gb/s", True, why)
        crossed = {self._leaf(name, rail) for name in test.nodes}
        limit = self._over_uplinks(derived, crossed, self._incasts, gbps) if len(crossed) > 1 else derived
        return _of_site(limit, INCAST_BANDWIDTH, node.limits)

    @cached_property
    def _incasts(self) -> Mapping[str, int]:
        """Rails that receive over the uplinks of each leaf, or at most are sent to over them."""
        found: Counter[str] = Counter()
        for test in self.tests:
            for rail in test.rails if test.kind == INCAST else ():
                leaves = {self._leaf(name, rail) for name in test.nodes}
                found.update(leaves if len(leaves) > 1 else ())
        return found

    def _over_uplinks(self, limit: Limit, leaves: Collection[str], flows: Mapping[str, int], gbps: float) -> Derived:
        """A limit of flows between leaves, which share the uplinks with all others of the round."""
        if unknown := sorted(set(leaves) - self.settings.uplinks.keys()):
            return NoLimit(f"the intent has no uplinks of {unknown[0]}", limit.unit)
        share = max(1.0, *(flows.get(leaf, 0) * gbps / self.settings.uplinks[leaf] for leaf in leaves))
        if share == 1:
            return limit
        return Limit(
            limit.value / share, limit.unit, True, f"{limit.why} / {limits.number(share, 2)} (oversubscribed leaf)"
        )

    def _collective(self, test: Test, found: ByPlace) -> Judged | Missing:
        node = self.settings.build(test.nodes[0])
        gbps = min(
            (self.settings.build(name).rails[rail].gbps for name in test.nodes for rail in test.rails), default=0
        )
        group = collectives.Group(len(test.nodes), node.gpus, len(test.rails), gbps, node.gpu_product)
        it = _one(found, BUS_BANDWIDTH, ",".join(test.nodes))
        if isinstance(it, Missing):
            return it
        algorithm = collectives.algorithm_for(len(test.nodes))
        most = collectives.most_bus_bandwidth(collectives.ALL_REDUCE, group, algorithm)
        if judge(it, most) is not None:
            # such a number did not pass these NICs
            return self._judge(it, most, test.nodes, None)
        derived = self._shared(test, gbps, collectives.bus_bandwidth(collectives.ALL_REDUCE, group, algorithm))
        return self._judge(it, _of_site(derived, BUS_BANDWIDTH, node.limits), test.nodes, None)

    def _shared(self, test: Test, gbps: float, derived: Derived) -> Derived:
        """The limit of a ring whose flows between leaves share uplinks with all other tests of the round."""
        crossed = {
            leaf
            for first, second in zip(test.nodes, [*test.nodes[1:], test.nodes[0]])
            for rail in test.rails
            if (ours := self._leaf(first, rail)) != (theirs := self._leaf(second, rail))
            for leaf in (ours, theirs)
        }
        if isinstance(derived, NoLimit) or not crossed:
            return derived
        return self._over_uplinks(derived, crossed, self._uplinks, gbps)

    @staticmethod
    def _judge(measure: Measure, limit: Derived, nodes: Sequence[str], rail: int | None) -> Judged:
        value = limit.value if isinstance(limit, Limit) else None
        passed = judge(measure, limit) is None
        return Judged(
            FABRIC, measure.name, measure.where, measure.value, measure.unit, value, limit.at_least, limit.why, passed,
            tuple(nodes), rail,
        )  # fmt: skip


_UNITS = {BANDWIDTH: "Gb/s", PATH_MTU: "bytes", LATENCY: "us", READ_LATENCY: "us"}


def _of_site(derived: Derived, name: str, own: Mapping[str, str]) -> Derived:
    return overridden(derived, float(own[name])) if name in own else derived


def _by_place(found: Sequence[Found]) -> ByPlace:
    """Findings by name and place; a measure wins."""
    ordered = sorted(found, key=lambda it: isinstance(it, Measure))
    return {(it.name, it.where): it for it in ordered}


def _one(found: ByPlace, name: str, where: str) -> Measure | Missing:
    """The measure of this name and place, or why there is none."""
    it = found.get((name, where))
    return it if isinstance(it, (Measure, Missing)) else Missing(name, where, "the node gave no answer")
