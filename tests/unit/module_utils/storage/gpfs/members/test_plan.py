# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.members.plan import (
    Member,
    Membership,
    plan,
)
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.steps import after

NAMES = ("gpu01", "gpu02", "gpu03")
WANT = Membership(dict.fromkeys(NAMES, Member("client")))


@pytest.mark.parametrize("member", [Member("server"), Member("client", state="arbitrating")])
def test_a_server_licence_is_one_and_the_daemon_is_the_nodes_own_business(member: Member) -> None:
    assert plan(Membership({"gpu01": member}), Membership({"gpu01": WANT.nodes["gpu01"]})) == []


MEMBERS = st.builds(Member, st.sampled_from(["none", "client"]), configured=st.booleans())


@given(nodes=st.fixed_dictionaries(dict.fromkeys(NAMES, st.none() | MEMBERS)))
def test_from_anywhere_the_steps_end_where_nothing_is_left(nodes: dict[str, Member | None]) -> None:
    steps = plan(Membership(nodes), WANT)
    assert after(steps, Membership(nodes)) == WANT
    order = [step.payload.verb for step in steps]
    rank = {"mmsdrrestore": 0, "mmaddnode": 1, "mmchlicense": 2}
    assert [rank[verb] for verb in order] == sorted(rank[verb] for verb in order)
