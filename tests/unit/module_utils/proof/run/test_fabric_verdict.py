# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
    Remark,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.fabric_verdict import (
    BUS_BANDWIDTH,
    DROPS,
    INCAST_BANDWIDTH,
    Round,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.traffic import (
    BANDWIDTH,
    LATENCY,
    PATH_MTU,
    READ_LATENCY,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import Outcome

from .pretended import settings

A, B, C = "n00000", "n00001", "n00002"
ROCE = {BANDWIDTH: 388.0, PATH_MTU: 4096.0, LATENCY: 3.0, READ_LATENCY: 6.0}
UNITS = {BANDWIDTH: "Gb/s", PATH_MTU: "bytes", LATENCY: "us", READ_LATENCY: "us"}
PAIR = sites.Test(sites.PAIR, (A, B), (0,))
OVER_SPINE = sites.Test(sites.PATH, (A, C), (0,))
INCAST = sites.Test(sites.INCAST, (A, B, C), (0,))


def measured(flow: traffic.Flow, **changes: Any) -> list[Found]:
    """All that a client prints, as a sound rail has it."""
    values = {**ROCE, **{key.replace("_", " "): it for key, it in changes.items()}}
    return [Measure(name, it, UNITS[name], flow.where) for name, it in values.items() if it is not None]


def verdict(
    found: Mapping[int, Sequence[Found]], *tests: sites.Test, own: Settings | None = None, **more: Any
) -> tuple[list[Outcome], dict[str, Judged]]:
    """Outcomes of tests, and measures by name; of equal names the last one. Two nodes are in one unit."""
    own = own or settings(4, per_unit=2)
    outcomes, measures = Round(
        own, own.site(list(own.placed)), tests, found, phases=tuple(traffic.TOOLS), **more
    ).judged()
    return [outcomes[test] for test in tests], {it.name: it for it in measures}


def sound(*tests: sites.Test, **changes: Any) -> dict[int, list[Found]]:
    """Findings of all flows, the first of which differ."""
    found: dict[int, list[Found]] = {}
    for at, flow in enumerate(traffic.flows(tests)):
        found.setdefault(flow.test, []).extend(measured(flow, **({} if at else changes)))
    return found


def test_a_sound_pair_passes_with_limits_of_its_leaf() -> None:
    outcomes, measures = verdict(sound(PAIR), PAIR)
    assert outcomes == [True]
    assert {name: (round(it.limit or 0, 1), it.at_least, it.rail) for name, it in measures.items()} == {
        BANDWIDTH: (380.4, True, 0),
        PATH_MTU: (4096, True, 0),
        LATENCY: (5, False, 0),
        READ_LATENCY: (10, False, 0),
    }
    assert measures[BANDWIDTH].nodes == (B, A)


@pytest.mark.parametrize(
    "change", [{"rail_bandwidth": 380.0}, {"path_MTU": 2048.0}, {"rail_latency": 5.1}, {"rail_latency_(read)": 10.1}]
)
def test_one_measure_beyond_its_limit_fails_its_test_alone(change: dict[str, float]) -> None:
    other = sites.Test(sites.PAIR, (A, B), (1,))
    assert verdict(sound(PAIR, other, **change), PAIR, other)[0] == [False, True]


def test_over_a_spine_a_latency_may_be_longer() -> None:
    outcomes, measures = verdict(sound(OVER_SPINE, rail_latency=6.9), OVER_SPINE)
    assert (outcomes, measures[LATENCY].limit) == ([True], 7)


def test_no_answer_is_missing_and_so_is_a_measure_without_its_phase() -> None:
    ((first,), _measures) = verdict({}, PAIR)
    assert first == Missing(BANDWIDTH, traffic.flows([PAIR])[0].where, "the node gave no answer")
    ((second,), _measures) = verdict(sound(PAIR, rail_latency=None), PAIR)
    assert isinstance(second, Missing) and second.name == LATENCY
    lost = sound(PAIR, rail_bandwidth=None, path_MTU=None)
    lost[0].append(Missing(BANDWIDTH, traffic.flows([PAIR])[0].where, "it hung"))
    assert verdict(lost, PAIR)[0] == [lost[0][-1]]


def test_a_measure_wins_over_a_missing_one_of_its_place() -> None:
    found = sound(PAIR)
    found[0].append(Missing(BANDWIDTH, traffic.flows([PAIR])[0].where, "later"))
    assert verdict(found, PAIR)[0] == [True]


def test_a_remark_is_no_measure() -> None:
    flow = traffic.flows([OVER_SPINE])[0]
    (outcome,) = verdict({0: [Remark(BANDWIDTH, flow.where, "why")]}, OVER_SPINE)[0]
    assert isinstance(outcome, Missing)


@pytest.mark.parametrize(
    ("own", "limit", "why"),
    [
        ({}, 380.4, "0.97 x 98.0 %"),
        ({"uplinks": {"u0r0": 200, "u1r0": 800}}, 190.2, "/ 2 (oversubscribed leaf)"),
        ({"uplinks": {"u0r0": 800}}, None, "the intent has no uplinks of u1r0"),
    ],
)
def test_rates_between_leaves_follow_from_their_uplinks(own: dict[str, Any], limit: float | None, why: str) -> None:
    measures = verdict(sound(OVER_SPINE), OVER_SPINE, own=settings(4, per_unit=2, **own))[1]
    found = measures[BANDWIDTH]
    assert (found.limit and round(found.limit, 1), why in found.why) == (limit, True)


def changed(**keys: Any) -> Settings:
    """Nodes whose class has other keys."""
    found = settings(4, per_unit=2)
    found.raw["classes"]["big"].update(keys)
    return found


def test_limits_of_the_site_replace_derived_ones() -> None:
    own = changed(limits={BANDWIDTH: "200", INCAST_BANDWIDTH: "50"})
    outcomes, measures = verdict(sound(PAIR, rail_bandwidth=201.0), PAIR, own=own)
    assert (outcomes, measures[BANDWIDTH].limit) == ([True], 200)
    assert "the site set it; derived: at least 380.4" in measures[BANDWIDTH].why


def test_without_a_line_rate_there_is_no_limit_and_a_measure_all_the_same() -> None:
    rails = [{"netdev": "r0", "rdma": "m0", "gbps": 0, "numa": 0}] * 2
    outcomes, measures = verdict(sound(PAIR, rail_bandwidth=1.0), PAIR, own=changed(rails=rails))
    assert (outcomes, measures[BANDWIDTH].limit) == ([True], None)
    assert measures[BANDWIDTH].why == "the intent has no line rate of the rail"


def incast(rates: Sequence[float], drops: float = 0) -> tuple[list[Outcome], dict[str, Judged]]:
    found: list[Found] = []
    for flow, rate in zip(traffic.flows([INCAST]), rates):
        found += [it for it in measured(flow, rail_bandwidth=rate) if it.name in (BANDWIDTH, PATH_MTU)]
    found.append(Measure(DROPS, drops, "packets", f"{C} rail0"))
    return verdict({0: found}, INCAST)


def test_senders_of_an_incast_share_one_line() -> None:
    outcomes, measures = incast((178, 176))
    assert outcomes == [True]
    found = measures[INCAST_BANDWIDTH]
    assert (found.value, round(found.limit or 0, 1), found.nodes) == (354, 352.9, (A, B, C))
    assert BANDWIDTH not in measures, "one sender alone has no limit"


@pytest.mark.parametrize(("rates", "drops"), [((100, 200), 0), ((178, 176), 1)])
def test_a_lost_packet_or_a_line_that_is_not_full_fails_an_incast(rates: Sequence[float], drops: float) -> None:
    assert incast(rates, drops)[0] == [False]


def test_an_incast_without_one_of_its_senders_has_no_sum() -> None:
    outcomes, measures = incast((178,))
    assert isinstance(outcomes[0], Missing)
    assert INCAST_BANDWIDTH not in measures


RING = sites.Test(sites.COLLECTIVE, (A, B), (0, 1))


def test_a_collective_is_judged_by_its_bus_bandwidth() -> None:
    own = changed(gpus=2, gpu_product="NVIDIA H100 80GB HBM3")
    for value, passed in ((99.0, True), (60.0, False)):
        found = {0: [Measure(BUS_BANDWIDTH, value, "GB/s", f"{A},{B}")]}
        outcomes, measures = verdict(found, RING, own=own, collective=True)
        assert outcomes == [passed]
        assert (measures[BUS_BANDWIDTH].nodes, measures[BUS_BANDWIDTH].rail) == ((A, B), None)
    (lost,) = verdict({}, RING, own=own, collective=True)[0]
    assert isinstance(lost, Missing) and lost.name == BUS_BANDWIDTH


def test_without_nccl_tests_a_collective_is_a_ring_of_flows() -> None:
    assert verdict(sound(RING), RING)[0] == [True]
    assert verdict(sound(RING, rail_bandwidth=100.0), RING)[0] == [False]
