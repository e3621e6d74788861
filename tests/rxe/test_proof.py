# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof's own worker in both machines with real perftest: a lossy and a slow rail are named, sound ones are not.

Slurm is absent, and this test sends each round's worker. Of two nodes no proof can tell which one is at fault.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof import limits
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged, ProofFinding
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import suspects, traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.bundle_io import bundle
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.fabric_verdict import Round
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import (
    Request,
    answers,
    of_tests,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.settings import Settings
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import Search
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import perftest_text

from lab.hosts.paths import REPOSITORY
from tests.rxe.pair import NAMES, RAILS, Pair, address
from tests.rxe.test_wire import NCCL_TC, UNTIL_IT_LISTENS
from tests.unit.module_utils.proof.run.pretended import settings

pytestmark = pytest.mark.live
SOUND, BAD = RAILS
NODE = ProofNode(
    "",
    "big",
    rails=tuple(ProofRail(f"eth{rail}", f"rxe{rail}", 0) for rail in RAILS),
    mtu_bytes=9000,
    tclass=NCCL_TC,
    seconds=4,
)
SHARE = 0.25
"""The limit of both rails, for 1 of the least that the sound rail has reached in this boot: no limit is derived for an
emulated NIC, and the machine may have other things to do."""
DELAY_US = 5000


class Proved(NamedTuple):
    """A search to its end."""

    search: Search
    findings: list[ProofFinding]
    judged: list[Judged]
    sent: list[set[int]]


def searched(pair: Pair, folder: Path) -> Proved:
    """The search of the fabric, each round by workers on both machines."""
    configured, least = settings(len(NAMES), classes={"big": NODE.as_dict()}), math.inf
    search = Search(configured.site(NAMES))
    judged: list[Judged] = []
    sent: list[set[int]] = []
    while tests := search.next_round():
        found = measured(pair, folder, tests)
        sent += [pair.sent(rail) for rail in {rail for test in tests for rail in test.rails}]
        rates = [it for some in found.values() for it in some if isinstance(it, Measure) and it.unit == "Gb/s"]
        least = min(least, *(it.value for it in rates if f"rail{SOUND}" in it.where), math.inf)
        limited = replace(NODE, limits={traffic.BANDWIDTH: str(SHARE * least)})
        outcomes, some = Round(with_class(configured, limited), search.site, tests, found).judged()
        print([(str(test), outcome) for test, outcome in outcomes.items()], rates)
        judged += some
        search.take(outcomes)
    return Proved(search, [suspects.finding(it, judged, search.site) for it in search.verdict()], judged, sent)


def with_class(configured: Settings, node: ProofNode) -> Settings:
    return Settings({**configured.raw, "classes": {"big": node.as_dict()}})


def measured(pair: Pair, folder: Path, tests: Sequence[site.Test]) -> dict:
    """What the workers of both machines have found, by the number of the test."""
    addresses = {name: address(name) for name in NAMES}
    request = Request({"big": NODE}, {"big": ",".join(NAMES)}, tests=tuple(tests), addresses=addresses)
    program = bundle(REPOSITORY / "module_utils", request.to_json(), folder / "worker").read_bytes()
    found = answers("\n".join(pair.run((program, program))))
    assert [(name, found[name].error) for name in NAMES] == [(name, "") for name in NAMES]
    return of_tests(found.values())


@pytest.fixture(scope="module")
def clean(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Proved:
    return searched(pair, tmp_path_factory.mktemp("clean"))


def test_sound_rails_are_proved_with_the_path_mtu_that_both_ends_negotiated(clean: Proved) -> None:
    assert clean.findings == []
    assert (clean.search.coverage().ports_passed, clean.search.tests) == (len(NAMES) * len(RAILS), 2)
    assert {it.value for it in clean.judged if it.name == traffic.PATH_MTU} == {4096}


def test_all_packets_carry_the_lossless_class(clean: Proved) -> None:
    assert clean.sent == [{NCCL_TC}] * 4


def test_a_lossy_rail_is_named_with_both_ends(clean: Proved, pair: Pair, tmp_path: Path) -> None:
    pair.run(("", f"modprobe sch_netem; tc qdisc replace dev eth{BAD} root netem loss 5%"))
    try:
        [found] = searched(pair, tmp_path).findings
    finally:
        pair.run(("", f"tc qdisc del dev eth{BAD} root"))
    assert (found.nodes, found.rails) == (NAMES, (BAD,))
    assert all(f"{name} rail{BAD}" in found.text for name in NAMES), found.text
    assert f"pair {','.join(NAMES)} rail {SOUND}: passed" in found.evidence


@pytest.mark.parametrize(("phase", "least_us"), [(traffic.LATENCY, DELAY_US / 2), (traffic.READ_LATENCY, DELAY_US)])
def test_a_rail_with_delay_is_above_the_limit_of_latency(pair: Pair, phase: str, least_us: float) -> None:
    """ib_write_lat prints half of the way there and back."""
    pair.run(("", f"modprobe sch_netem; tc qdisc replace dev eth{BAD} root netem delay {DELAY_US}us"))
    try:
        server, client = (shlex.join(traffic.command(NODE, BAD, 1, phase, 18600, host)) for host in ("", address(NAMES[0])))
        _listened, printed = pair.run((server, UNTIL_IT_LISTENS.format(client)))
    finally:
        pair.run(("", f"tc qdisc del dev eth{BAD} root"))
    found, mtu = perftest_text.measures(printed, "", 0, "rail", phase)
    assert isinstance(found, Measure) and isinstance(mtu, Measure), printed
    assert (found.unit, mtu.value) == ("us", 4096)
    assert least_us <= found.value
    assert limits.judge(found, limits.rail_latency(read=phase == traffic.READ_LATENCY))
