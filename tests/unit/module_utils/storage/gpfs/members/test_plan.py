# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.plan import (
    Member,
    Membership,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st

NAMES = ("gpu01", "gpu02", "gpu03")
WANT = Membership(dict.fromkeys(NAMES, Member("client", "active")))


def verbs(**nodes: Member | None) -> list[tuple[str, str]]:
    want = Membership({name: WANT.nodes["gpu01"] for name in nodes})
    return [(step.payload.verb, step.payload.node) for step in plan(Membership(nodes), want) if not step.pending]


def test_all_join_before_one_is_licensed_and_all_are_licensed_before_one_starts() -> None:
    assert verbs(gpu01=None, gpu02=None) == [
        (verb, name) for verb in ("mmaddnode", "mmchlicense", "mmstartup") for name in ("gpu01", "gpu02")
    ]


def test_a_server_licence_is_one_and_stays() -> None:
    assert verbs(nsd1=Member("server", "active")) == []


def test_a_node_on_its_way_is_waited_for_and_not_started() -> None:
    assert verbs(gpu01=Member("client", "arbitrating")) == [("", "gpu01")]


def test_an_unknown_state_is_pending_with_both_ways_out() -> None:
    (step,) = plan(Membership({"gpu01": Member("client", "unknown")}), Membership({"gpu01": WANT.nodes["gpu01"]}))
    assert "start the host" in step.pending and "mmsdrrestore -N gpu01" in step.pending


MEMBERS = st.builds(Member, st.sampled_from(["none", "client"]), st.sampled_from(["down", "arbitrating", "active"]))


@given(nodes=st.fixed_dictionaries(dict.fromkeys(NAMES, st.none() | MEMBERS)))
def test_from_anywhere_the_steps_end_where_nothing_is_left(nodes: dict[str, Member | None]) -> None:
    steps = plan(Membership(nodes), WANT)
    after = reduce(lambda state, step: step.becomes(state), steps, Membership(nodes))
    assert after == WANT
    order = [step.payload.verb for step in steps]
    rank = {"mmaddnode": 0, "mmchlicense": 1, "mmstartup": 2, "": 2}
    assert [rank[verb] for verb in order] == sorted(rank[verb] for verb in order)
