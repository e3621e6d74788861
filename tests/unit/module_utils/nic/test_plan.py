# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import queues
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
FACTORY_QUEUES = tuple((number, "vendor", 0) for number in (1, 0, 2, 3, 4, 5, 6, 7))
SHARES = queues.shared({3: 50, 6: 0})
COMPLETE = replace(WANT, queues=SHARES, cable_m=50)
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


PORTS = st.builds(
    NicPortQos,
    trust=st.sampled_from(["dscp", "pcp", "none"]),
    dscp_priority=st.dictionaries(st.sampled_from([26, 48]), st.integers(0, 7)),
    lossless=st.frozensets(st.integers(0, 7)),
    dcbx=st.sampled_from(["os", "fw"]),
    queues=st.sampled_from([FACTORY_QUEUES, SHARES]),
    cable_m=st.sampled_from([7, 50]),
)


@given(have=st.fixed_dictionaries(dict.fromkeys(RAILS, PORTS)))
def test_from_anywhere_the_steps_end_where_nothing_is_left(have: dict[str, NicPortQos]) -> None:
    steps = plan(NicQos(have), nic(COMPLETE))
    after = reduce(lambda state, step: step.becomes(state), steps, NicQos(have))
    assert after == nic(COMPLETE)
    assert plan(after, nic(COMPLETE)) == []
    assert len({step.reason for step in steps}) == len(steps)


def test_one_command_sets_all_shares() -> None:
    [step] = plan(
        NicQos({"rail0": replace(WANT, queues=FACTORY_QUEUES)}), NicQos({"rail0": replace(WANT, queues=SHARES)})
    )
    strict = ",strict,strict,ets,strict,strict,strict,strict"
    assert step.payload.options == ("-p", "0,0,0,3,0,0,6,0", "-s", f"ets{strict}", "-t", "50,0,0,50,0,0,0,0")
    assert step.reason == (
        "rail0: share the link: 50 % for priority 0 1 2 4 5 7, 50 % for priority 3, strict for priority 6,"
        " not vendor for priority 0 1 2 3 4 5 6 7"
    )
    assert step.disturbs and not step.payload.flaps


OWN = queues.own_classes(SHARES)
ICE_PORTS = st.builds(
    NicPortQos,
    trust=st.sampled_from(["dscp", "pcp"]),
    dscp_priority=st.dictionaries(st.sampled_from([26, 48]), st.integers(0, 7)),
    lossless=st.frozensets(st.integers(0, 7)),
    dcbx=st.sampled_from(["os", "fw"]),
    queues=st.sampled_from([queues.ONE_CLASS, queues.NEW_MAP, OWN]),
    cable_m=st.just(7),
    ice=st.just(True),
)


@given(have=st.fixed_dictionaries(dict.fromkeys(RAILS, ICE_PORTS)))
def test_from_anywhere_ice_ends_with_the_same_lossless_priorities_and_shares(have: dict[str, NicPortQos]) -> None:
    steps = plan(NicQos(have), nic(COMPLETE))
    after = reduce(lambda state, step: step.becomes(state), steps, NicQos(have))
    assert after == nic(replace(COMPLETE, queues=OWN, cable_m=7))
    assert plan(after, nic(COMPLETE)) == []
    assert flapping(steps) == list(dict.fromkeys(step.payload.interface for step in steps)), "each change bounces"


def test_a_tool_that_maps_with_trust_leaves_nothing_to_map() -> None:
    have = replace(WANT, trust="pcp", dscp_priority={}, maps_with_trust=True)
    want = replace(WANT, dscp_priority={26: 3, 48: 7})
    assert [step.payload.options[0] for step in plan(nic(have), nic(want))] == ["--trust"] * 2
    assert len(plan(nic(replace(have, maps_with_trust=False)), nic(want))) == 4


def test_bnxt_bounces_at_a_change_of_shares_too_and_has_no_cable() -> None:
    have = NicQos({"rail0": replace(COMPLETE, queues=FACTORY_QUEUES, cable_m=7, bnxt=True)})
    [step] = plan(have, NicQos({"rail0": COMPLETE}))
    assert step.payload.options[0] == "-p" and step.payload.flaps and step.consent and step.disturbs


def test_a_link_of_ice_that_is_down_needs_no_consent() -> None:
    have = replace(WANT, dscp_priority={26: 2, 48: 6}, ice=True, up=False)
    [step] = plan(NicQos({"rail0": have}), NicQos({"rail0": WANT}))
    assert not step.consent and not step.disturbs
