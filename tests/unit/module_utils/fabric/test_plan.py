# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from functools import reduce

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.dialect import Config
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import (
    DIALECT,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import flapping, plan
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.emulated_switch import profile

WANT = render(profile(ports=4))
SAVE = "save the running configuration, so that a restart keeps it"


def fresh() -> Config:
    """A switch with bare ports."""
    bare = {name: (name, "   mtu 1500") for name, _ in WANT.sections if name.startswith("interface ")}
    return WANT.with_sections({name: bare.get(name, ()) for name, _ in WANT.sections})


def reasons(have: Config) -> list[str]:
    return [step.reason for step in plan(DIALECT, have, WANT)]


def test_a_switch_that_is_right_needs_nothing() -> None:
    assert plan(DIALECT, WANT, WANT) == []


def test_ports_that_need_the_same_are_one_sentence_and_come_after_the_profile() -> None:
    steps = reasons(fresh())
    assert [step.split(":")[0] for step in steps] == [
        "traffic classes",
        "PFC watchdog",
        "qos profile ROCE",
        "interface Ethernet1-4",
        SAVE,
    ]
    assert steps[3].endswith(": mtu 9214; service-profile ROCE; uc-tx-queue 3; random-detect ecn count")


def test_ports_that_differ_are_sentences_of_their_own() -> None:
    have = WANT.with_sections({"interface Ethernet2": ("interface Ethernet2", "   mtu 9214")})
    assert [step.split(":")[0] for step in reasons(have)] == ["interface Ethernet2", SAVE]


def test_only_ports_with_another_mtu_flap() -> None:
    have = WANT.with_sections(
        {
            "interface Ethernet2": ("interface Ethernet2", "   mtu 9000"),
            "interface Ethernet3": ("interface Ethernet3", "   mtu 9214"),
        }
    )
    assert flapping(DIALECT, have, WANT) == ["Ethernet2"]


def test_what_earlier_runs_left_goes_first() -> None:
    have = replace(WANT, stale=("drawbridge-a", "drawbridge-b"))
    assert [step.split(",")[0] for step in reasons(have)] == [
        "abort the session drawbridge-a",
        "abort the session drawbridge-b",
    ]


def test_a_waiting_session_is_confirmed_if_it_does_what_we_want() -> None:
    assert reasons(replace(WANT, waiting="drawbridge-a")) == [
        "confirm the session drawbridge-a, which an earlier run left waiting for its confirmation",
        SAVE,
    ]
    assert reasons(replace(fresh(), waiting="drawbridge-a"))[0].startswith("roll back the session drawbridge-a")


@given(
    st.sets(st.sampled_from([name for name, _ in WANT.sections])),
    st.booleans(),
    st.lists(st.sampled_from(["drawbridge-a", "drawbridge-b"]), unique=True),
    st.sampled_from(["", "drawbridge-c"]),
)
def test_doing_the_steps_leaves_nothing_to_do(broken: set[str], saved: bool, stale: list[str], waiting: str) -> None:
    bare = dict(fresh().sections)
    have = WANT.with_sections({name: bare[name] for name in broken})
    have = replace(have, saved=saved, stale=tuple(stale), waiting=waiting)
    after = reduce(lambda config, step: step.becomes(config), plan(DIALECT, have, WANT), have)
    assert after == WANT
    assert plan(DIALECT, after, WANT) == []
