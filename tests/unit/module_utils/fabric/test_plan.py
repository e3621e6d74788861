# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from functools import reduce

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import (
    DIALECT,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    CONFIRM,
    PROMPT,
    Config,
    Typed,
    plan,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.emulated_switch import profile

WANT = render(profile(ports=4))
MTU = {1: 9000, 2: 9214, 3: 1500}
SAVE = "save the running configuration, so that a restart keeps it"


def fresh() -> Config:
    """A switch with bare ports."""
    bare = {name: (name, "   mtu 1500") for name, _ in WANT.sections if name.startswith("interface ")}
    return WANT.with_sections({name: bare.get(name, ()) for name, _ in WANT.sections})


def reasons(have: Config) -> list[str]:
    return [step.reason for step in plan(DIALECT, have, WANT)]


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


def test_only_ports_with_another_mtu_flap_and_all_of_them_are_one_sentence() -> None:
    bare = {f"interface Ethernet{n}": (f"interface Ethernet{n}", f"   mtu {mtu}") for n, mtu in MTU.items()}
    steps = plan(DIALECT, WANT.with_sections(bare), WANT)
    assert [step.reason.split(":")[0] for step in steps if step.consent] == ["interface Ethernet1,Ethernet3"]
    [sentence] = refusals(steps, {"variables": {"may_flap_ports": "site_says_so"}})
    assert sentence.startswith("a new MTU takes the links of Ethernet1,Ethernet3 down for a moment")
    assert sentence.endswith("add the line: site_says_so: true")
    assert refusals(steps, {"may_flap_ports": True}) == []


def test_an_edit_of_the_profile_on_its_ports_needs_consent() -> None:
    profile_lines = dict(WANT.sections)["qos profile ROCE"]
    steps = plan(DIALECT, WANT.with_sections({"qos profile ROCE": profile_lines[:-1]}), WANT)
    [sentence] = refusals(steps, {"variables": {"may_flap_ports": "site_says_so"}})
    assert sentence.startswith(
        "an edit of qos profile ROCE moves the buffers of all its ports at once; drain the nodes"
    )
    assert sentence.endswith("add the line: site_says_so: true")


def test_a_step_has_the_lines_that_are_typed_and_where() -> None:
    have = replace(WANT, sections=fresh().sections, stale=("drawbridge-a",), saved=False)
    steps = plan(DIALECT, have, WANT)
    assert [step.payload.place for step in steps] == [PROMPT, *[CANDIDATE] * 4, PROMPT]
    assert steps[0].payload.lines == ("configure session drawbridge-a abort",)
    port = ("mtu 9214", "service-profile ROCE", "uc-tx-queue 3", "random-detect ecn count")
    assert steps[4].payload.lines == tuple(line for n in range(1, 5) for line in (f"interface Ethernet{n}", *port))
    assert steps[5].payload.lines == ("write memory",)


def test_what_earlier_runs_left_goes_first() -> None:
    have = replace(WANT, stale=("drawbridge-a", "drawbridge-b"))
    assert [step.split(",")[0] for step in reasons(have)] == [
        "abort the session drawbridge-a",
        "abort the session drawbridge-b",
    ]


def test_a_waiting_session_is_confirmed_if_it_does_what_we_want() -> None:
    have = replace(WANT, waiting="drawbridge-a")
    confirmed = Typed(CONFIRM, ("configure session drawbridge-a commit",), "drawbridge-a")
    assert plan(DIALECT, have, WANT)[0].payload == confirmed
    assert reasons(have) == [
        "confirm the session drawbridge-a, which an earlier run left waiting for its confirmation",
        SAVE,
    ]


def test_everything_waits_for_the_end_of_a_session_that_does_something_else() -> None:
    """What the switch rolls back to, and so what has to be typed then, is seen only when it has."""
    steps = plan(DIALECT, replace(fresh(), waiting="drawbridge-a"), WANT)
    assert {step.pending.partition(" of an earlier run is in force")[0] for step in steps} == {
        "the session drawbridge-a"
    }


@pytest.mark.parametrize("have", [replace(WANT, saved=False), fresh()])
def test_nothing_is_done_while_another_persons_session_is_open(have: Config) -> None:
    [sentence] = refusals(plan(DIALECT, replace(have, foreign=("upgrade (eve)",)), WANT), {"may_flap_ports": True})
    assert "configuration session upgrade (eve) is open" in sentence
    assert sentence.endswith("on the switch with: configure session upgrade abort")


@settings(deadline=None)
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
    steps = plan(DIALECT, have, WANT)
    assert {bool(step.pending) for step in steps} <= {bool(waiting and broken)}
    if waiting and broken:
        return
    after = reduce(lambda config, step: step.becomes(config), steps, have)
    assert after == WANT
    assert plan(DIALECT, after, WANT) == []


CONFIG = Config((("traffic classes", ("qos map",)), ("interface Ethernet1", ("interface Ethernet1", "   mtu 9214"))))


def test_what_is_not_there_to_stay_is_remarked_on() -> None:
    shaky = Config(CONFIG.sections, saved=False, stale=("drawbridge-a",), waiting="drawbridge-b")
    assert shaky.lines()[3:] == [
        "! session drawbridge-a was left open",
        "! session drawbridge-b waits for its confirmation",
        "! startup-config differs",
    ]


def test_what_others_do_and_what_hardware_does_is_no_part_of_the_configuration() -> None:
    assert Config(CONFIG.sections, foreign=("upgrade",), unproven=("no",)) == CONFIG
