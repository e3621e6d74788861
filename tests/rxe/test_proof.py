# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof's own worker in both machines with real perftest: a lossy rail is named, a slow one is beyond its limit.

Slurm is absent, and this test sends each round's worker. Of two nodes no proof can tell which one is at fault.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof import limits
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import (
    Found,
    Measure,
    Missing,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run import suspects, traffic
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.bundle_io import bundle
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.fabric_verdict import Round
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.request import (
    Request,
    answers,
    of_tests,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.search import Search
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.state import Outcome
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
    # the worker ends perftest 30 s later, and a slow machine needs that long; rxe.sh makes perftest measure for 4 s
    seconds=600,
)
SHARE = 0.5
"""The limit, for 1 of the least that sound rails reached in this boot: none can be derived for an emulated NIC."""
LOSS = "50%"
"""A lost packet whose repetition is lost costs 4.3 s (rxe.sh). So no message of 256 packets arrives in 4 s on any
machine. With 5 % some arrive, and their rate is luck."""
DELAY_US = 5000
TRIES = 5


class Measured(NamedTuple):
    """What a round with one test of one rail gave, and the types of service that the second machine sent."""

    test: site.Test
    found: dict[int, list[Found]]
    sent: set[int]

    @property
    def rates(self) -> list[float]:
        """Gb/s of the flows that have a result."""
        return [it.value for it in self.found[0] if isinstance(it, Measure) and it.name == traffic.BANDWIDTH]

    def judged(self, least: float) -> tuple[Outcome, list[Judged]]:
        """The outcome with a share of this rate as the site's limit."""
        limited = replace(NODE, limits={traffic.BANDWIDTH: str(SHARE * least)})
        configured = settings(len(NAMES), classes={"big": limited.as_dict()})
        outcomes, some = Round(configured, configured.site(NAMES), [self.test], self.found).judged()
        return outcomes[self.test], some


def measured(pair: Pair, folder: Path, rail: int, kind: str = site.PATH) -> Measured:
    """A round by the workers of both machines. The path is the one from the second machine."""
    test = site.Test(kind, NAMES[::-1], (rail,))
    request = Request(
        {"big": NODE},
        {"big": ",".join(NAMES)},
        tests=(test,),
        phases=(traffic.BANDWIDTH,),
        addresses={name: address(name) for name in NAMES},
        wait_s=NODE.seconds,
    )
    program = bundle(REPOSITORY / "module_utils", request.to_json(), folder / "worker").read_bytes()
    answered = answers("\n".join(pair.run((program, program))))
    assert [(name, answered[name].error) for name in NAMES] == [(name, "") for name in NAMES]
    return Measured(test, of_tests(answered.values()), pair.sent(rail))


def with_rates(pair: Pair, folder: Path, rail: int, kind: str = site.PATH) -> Measured:
    """The first round in which each flow has a rate. In both directions at once, one flow may starve the other."""
    found = None
    for _attempt in range(TRIES):
        found = measured(pair, folder, rail, kind)
        if len(found.rates) == len(traffic.flows([found.test])):
            return found
    raise AssertionError(found)


@pytest.fixture(scope="module")
def sound(pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> list[Measured]:
    return [with_rates(pair, tmp_path_factory.mktemp("sound"), rail) for rail in RAILS]


@pytest.fixture(scope="module")
def lossy(sound: list[Measured], pair: Pair, tmp_path_factory: pytest.TempPathFactory) -> Measured:
    """The second machine's bad rail, which had a rate without the loss."""
    pair.run(("", f"modprobe sch_netem; tc qdisc replace dev eth{BAD} root netem loss {LOSS}"))
    try:
        return measured(pair, tmp_path_factory.mktemp("lossy"), BAD)
    finally:
        pair.run(("", f"tc qdisc del dev eth{BAD} root"))


def test_sound_rails_pass_with_the_path_mtu_that_both_ends_negotiated(sound: list[Measured]) -> None:
    least = min(rate for it in sound for rate in it.rates)
    for it in sound:
        outcome, judged = it.judged(least)
        assert outcome is True
        assert [row.value for row in judged if row.name == traffic.PATH_MTU] == [4096]


def test_all_packets_of_both_directions_carry_the_lossless_class(pair: Pair, tmp_path: Path) -> None:
    assert with_rates(pair, tmp_path, BAD, site.PAIR).sent == {NCCL_TC}


def test_a_lossy_rail_is_named_with_both_ends(sound: list[Measured], lossy: Measured) -> None:
    """The search gets for each of its tests the outcomes of the rails in it."""
    # the rail is lossy, not dead
    assert lossy.sent == {NCCL_TC}
    least = min(rate for it in sound for rate in it.rates)
    lost, judged = lossy.judged(least)
    assert isinstance(lost, Missing), lossy
    search = Search(settings(len(NAMES)).site(NAMES))
    while tests := search.next_round():
        search.take({test: lost if BAD in test.rails else sound[SOUND].judged(least)[0] for test in tests})
    [suspect] = search.verdict()
    assert (suspect.nodes, suspect.rails) == (NAMES, (BAD,))
    text = suspects.finding(suspect, judged, search.site).text
    assert text.startswith(f"a test of {', '.join(NAMES)} failed"), text
    assert f"pair {','.join(NAMES)} rail {BAD}: missing ({lost.why})" in text


@pytest.mark.parametrize(("phase", "least_us"), [(traffic.LATENCY, DELAY_US / 2), (traffic.READ_LATENCY, DELAY_US)])
def test_a_rail_with_delay_is_above_the_limit_of_latency(pair: Pair, phase: str, least_us: float) -> None:
    """ib_write_lat prints half of the way there and back."""
    pair.run(("", f"modprobe sch_netem; tc qdisc replace dev eth{BAD} root netem delay {DELAY_US}us"))
    try:
        ends = ("", address(NAMES[0]))
        server, client = (shlex.join(traffic.command(NODE, BAD, 1, phase, 18600, host)) for host in ends)
        _listened, printed = pair.run((server, UNTIL_IT_LISTENS.format(client)))
    finally:
        pair.run(("", f"tc qdisc del dev eth{BAD} root"))
    found, mtu = perftest_text.measures(printed, "", 0, "rail", phase)
    assert isinstance(found, Measure) and isinstance(mtu, Measure), printed
    assert (found.unit, mtu.value) == ("us", 4096)
    assert least_us <= found.value
    assert limits.judge(found, limits.rail_latency(read=phase == traffic.READ_LATENCY))
