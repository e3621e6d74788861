# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import (
    NicPortQos,
    NicQos,
    flapping,
    plan,
    shared,
    wanted,
)
from hypothesis import given
from hypothesis import strategies as st

WANT = NicPortQos("dscp", {26: 3, 48: 6}, frozenset({3}))
FACTORY_QUEUES = tuple((number, "vendor", 0) for number in (1, 0, 2, 3, 4, 5, 6, 7))
SHARES = shared({3: 50, 6: 0})
COMPLETE = replace(WANT, queues=SHARES, cable_m=50)
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


def test_listed_priorities_have_a_class_of_their_own_and_the_others_the_rest() -> None:
    others, control = (0, "ets", 50), (6, "strict", 0)
    assert (*[others] * 3, (3, "ets", 50), others, others, control, others) == SHARES
    assert shared({0: 60})[:2] == ((0, "ets", 60), (1, "ets", 40))
    assert shared({}) == ()


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


@given(shares=st.dictionaries(st.integers(0, 7), st.integers(0, 14), min_size=1, max_size=7))
def test_shares_of_a_link_are_whole_and_no_two_listed_priorities_share_a_queue(shares: dict[int, int]) -> None:
    queues = shared(shares)
    assert sum(share for _, algorithm, share in set(queues) if algorithm == "ets") == 100
    assert len({queues[priority][0] for priority in shares}) == len(shares)
