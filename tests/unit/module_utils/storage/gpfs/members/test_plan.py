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
WANT = Membership(dict.fromkeys(NAMES, Member("client")))


def verbs(**nodes: Member | None) -> list[tuple[str, str]]:
    want = Membership({name: WANT.nodes["gpu01"] for name in nodes})
    return [(step.payload.verb, step.payload.node) for step in plan(Membership(nodes), want) if not step.pending]


def test_all_join_before_one_is_licensed() -> None:
    assert verbs(gpu01=None, gpu02=None) == [
        (verb, name) for verb in ("mmaddnode", "mmchlicense") for name in ("gpu01", "gpu02")
    ]


def test_a_server_licence_is_one_and_stays() -> None:
    assert verbs(nsd1=Member("server")) == []


def test_the_daemon_is_the_nodes_own_business() -> None:
    assert verbs(gpu01=Member("client", state="arbitrating")) == []


def test_an_unknown_state_is_pending_with_the_repair() -> None:
    (step,) = plan(Membership({"gpu01": Member("client", state="unknown")}), Membership({"gpu01": Member("client")}))
    assert step.pending.endswith("start the host, or repair its network")


MEMBERS = st.builds(Member, st.sampled_from(["none", "client"]), configured=st.booleans())


@given(nodes=st.fixed_dictionaries(dict.fromkeys(NAMES, st.none() | MEMBERS)))
def test_from_anywhere_the_steps_end_where_nothing_is_left(nodes: dict[str, Member | None]) -> None:
    steps = plan(Membership(nodes), WANT)
    after = reduce(lambda state, step: step.becomes(state), steps, Membership(nodes))
    assert after == WANT
    order = [step.payload.verb for step in steps]
    rank = {"mmsdrrestore": 0, "mmaddnode": 1, "mmchlicense": 2}
    assert [rank[verb] for verb in order] == sorted(rank[verb] for verb in order)
