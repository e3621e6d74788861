# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.node import ProofNode, ProofRail
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.run.traffic import (
    BANDWIDTH,
    GATE_PORT,
    LATENCY,
    READ_LATENCY,
    TOOLS,
    Flow,
    command,
    flows,
    limit_s,
    phases,
    port,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule import site as sites
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.schedule.site import (
    COLLECTIVE,
    CROSSING,
    INCAST,
    PAIR,
    PATH,
    RAILS,
)

NODE = ProofNode("a", "big", tuple(ProofRail(f"r{at}", f"m{at}", 400) for at in range(2)), tclass=106, seconds=7)


@pytest.mark.parametrize(
    ("kind", "nodes", "rails", "wanted"),
    [
        (PAIR, "ab", (1,), ["a1b1", "b1a1"]),
        (PATH, "ab", (1,), ["a1b1"]),
        (CROSSING, "ab", (0, 1), ["a0b1", "b1a0"]),
        (INCAST, "abc", (0, 1), ["b0a0", "c0a0", "b1a1", "c1a1"]),
        (RAILS, "ab", (0,), ["a0b0", "b0a0"]),
        (COLLECTIVE, "abc", (0, 1), ["a0b0", "b0c0", "c0a0", "a1b1", "b1c1", "c1a1"]),
    ],
)
def test_a_test_is_flows_between_rails(kind: str, nodes: str, rails: tuple[int, ...], wanted: list[str]) -> None:
    found = flows([sites.Test(kind, tuple(nodes), rails)])
    assert [f"{it.sender}{it.sender_rail}{it.receiver}{it.receiver_rail}" for it in found] == wanted
    assert {it.test for it in found} == {0}


def test_all_ends_of_a_round_have_ports_of_their_own() -> None:
    senders = tuple(f"n{number}" for number in range(64))
    tests = [sites.Test(INCAST, ("a", *senders), (0, 1, 7)), sites.Test(PAIR, ("a", "b"), (2,))]
    to_a = [port(flow, phase) for flow in flows(tests) for phase in TOOLS if flow.receiver == "a"]
    assert len(set(to_a)) == len(to_a) == 3 * (3 * 64 + 1)
    # Linux gives ports from 32768 on to clients
    assert min(to_a) > GATE_PORT and max(to_a) < 32768


def test_more_senders_than_ports_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 64 flows to a rail0"):
        port(Flow(0, "b", 0, "a", 0, 64), BANDWIDTH)


def test_many_senders_measure_no_latency() -> None:
    every = (BANDWIDTH, LATENCY, READ_LATENCY)
    assert phases(sites.Test(INCAST, ("a", "b"), (0,)), every) == (BANDWIDTH,)
    pair = sites.Test(PAIR, ("a", "b"), (0,))
    assert (phases(pair, every), phases(pair, every[1:])) == (every, every[1:])


def test_both_ends_run_the_same_command_in_the_lossless_class() -> None:
    server = command(NODE, 1, 3, BANDWIDTH, 18600)
    assert command(NODE, 1, 3, BANDWIDTH, 18600, "10.0.0.2") == [*server, "10.0.0.2"]
    words = "ib_write_bw -d m1 -x 3 -F --report_gbits -s 1048576 -q 4 -D 7 --tclass=106 -p 18600"
    assert " ".join(server) == words
    words = "ib_read_lat -d m0 -x 3 -F -n 1000 --tclass=106 -p 5"
    assert " ".join(command(NODE, 0, 3, READ_LATENCY, 5)) == words


def test_a_tool_may_take_its_duration_longer() -> None:
    assert limit_s(NODE, BANDWIDTH) - limit_s(NODE, LATENCY) == 7
    assert limit_s(replace(NODE, seconds=60), BANDWIDTH) > 60
