# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import (
    NicPortQos,
    NicQos,
    flapping,
    plan,
    wanted,
)
from hypothesis import given
from hypothesis import strategies as st

WANT = NicPortQos("dscp", {26: 3, 48: 6}, frozenset({3}))
FACTORY = NicPortQos("pcp", {}, frozenset())
RAILS = ("rail0", "rail1")


def nic(port: NicPortQos) -> NicQos:
    return NicQos(dict.fromkeys(RAILS, port))


def test_the_modules_arguments_are_wanted_of_every_port() -> None:
    """A file keeps numbers as the inventory wrote them; Ansible converts the module's."""
    dscps = [{"dscp": "48", "priority": 6}, {"dscp": 26, "priority": "3"}]
    assert wanted([{"interfaces": RAILS, "lossless_priorities": ["3"], "dscp_priorities": dscps}]) == nic(WANT)


def test_all_ports_have_trust_and_map_before_the_first_link_bounces() -> None:
    have = nic(NicPortQos("pcp", {}, frozenset({4}), dcbx="fw"))
    steps = plan(have, nic(NicPortQos("dscp", {26: 5}, frozenset({3}))))
    assert [step.payload.options[0] for step in steps] == [
        *["-d"] * 2,
        *["--trust"] * 2,
        *["--dscp2prio"] * 2,
        *["--pfc"] * 2,
    ]


def test_an_entry_that_is_not_there_is_set() -> None:
    (step,) = plan(NicQos({"rail0": NicPortQos("dscp", {26: 3}, frozenset({3}))}), NicQos({"rail0": WANT}))
    assert step.payload.options == ("--dscp2prio", "set,48,6")


def test_only_links_that_are_up_bounce() -> None:
    have = NicQos({"rail0": FACTORY, "rail1": NicPortQos("pcp", {}, frozenset(), up=False)})
    assert flapping(plan(have, nic(WANT))) == ["rail0"]


PORTS = st.builds(
    NicPortQos,
    trust=st.sampled_from(["dscp", "pcp", "none"]),
    dscp_priority=st.dictionaries(st.sampled_from([26, 48]), st.integers(0, 7)),
    lossless=st.frozensets(st.integers(0, 7)),
    dcbx=st.sampled_from(["os", "fw"]),
)


@given(have=st.fixed_dictionaries(dict.fromkeys(RAILS, PORTS)))
def test_from_anywhere_the_steps_end_where_nothing_is_left(have: dict[str, NicPortQos]) -> None:
    steps = plan(NicQos(have), nic(WANT))
    after = reduce(lambda state, step: step.becomes(state), steps, NicQos(have))
    assert after == nic(WANT)
    assert plan(after, nic(WANT)) == []
    assert len({step.reason for step in steps}) == len(steps)
