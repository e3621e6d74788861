# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Step, refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import (
    DIALECT,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    CONFIRM,
    PROMPT,
    PROVE,
    Config,
    Typed,
    difference,
    interrupting,
    plan,
    way_back,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import (
    INTERRUPTING,
    QUIET,
    Traffic,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.emulated_switch import profile

WANT = render(profile(ports=4))
NONE: Mapping[str, str] = {}
SAVE = "save the running configuration, so that a restart keeps it"


def fresh() -> Config:
    """A switch with bare ports."""
    bare = {name: (name, "   mtu 1500") for name, _ in WANT.sections if name.startswith("interface ")}
    return WANT.with_sections({name: bare.get(name, ()) for name, _ in WANT.sections})


def reasons(have: Config) -> list[str]:
    return [step.reason for step in plan(DIALECT, have, WANT)]


def test_a_system_whose_changes_last_by_themselves_needs_no_step_for_it() -> None:
    steps = plan(replace(DIALECT, save=""), fresh(), WANT)
    after = reduce(lambda config, step: step.becomes(config), steps, replace(fresh(), saved=True))
    assert (steps[-1].payload.place, after) == (CANDIDATE, WANT)


def test_a_confirmation_can_be_several_lines() -> None:
    typing = replace(DIALECT, confirm="configure exclusive\ncommit # {}".format)
    step = plan(typing, replace(WANT, waiting="drawbridge-a"), WANT)[0]
    assert step.payload == Typed(CONFIRM, ("configure exclusive", "commit # drawbridge-a"), "drawbridge-a")


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


GPU = {f"Ethernet{n}": [f"gpu0{n}"] for n in range(1, 5)}
"""One node behind each port."""


def traffic(drained: str = "", jobs: Mapping[str, str] = NONE, **extra: Any) -> Traffic:
    use = ClusterUse(frozenset(hostlist.expand(drained)) if drained else frozenset(), jobs, "")
    return Traffic(**{"behind": GPU, "use": use, "consent": "site_says_so", **extra})


def bare(*numbers: int, mtu: int = 1500) -> Config:
    """A switch on which these ports are as from the factory."""
    return WANT.with_sections({f"interface Ethernet{n}": (f"interface Ethernet{n}", f"   mtu {mtu}") for n in numbers})


def waiting(steps: Sequence[Step[Config]]) -> dict[str, str]:
    return {step.reason.split(":")[0]: step.pending for step in steps if step.pending}


def test_only_ports_whose_nodes_are_in_use_wait_and_the_reason_has_the_line_to_add() -> None:
    steps = plan(DIALECT, bare(1, 2, 3, 4), WANT, traffic("gpu[01-03]", {"gpu02": "7"}))
    assert [step.reason.split(":")[0] for step in steps if not step.pending] == ["interface Ethernet1,Ethernet3", SAVE]
    [(name, why)] = waiting(steps).items()
    assert name == "interface Ethernet2,Ethernet4"
    assert why.startswith("a new MTU takes the links of Ethernet2,Ethernet4 down for a moment: Slurm job 7 is on gpu02")
    assert why.endswith(
        "and 1 more nodes are in use; drain gpu[02,04] and run this again,"
        " or allow it with the line: site_says_so: true"
    )


def test_while_all_wait_nothing_is_saved() -> None:
    assert all(step.pending for step in plan(DIALECT, replace(bare(1), saved=True), WANT, traffic()))


def test_no_answer_of_slurm_and_ports_that_are_not_known_wait() -> None:
    [why] = waiting(plan(DIALECT, bare(1), WANT, traffic(use=ClusterUse(unknown="no answer")))).values()
    assert ": no answer; run this again when it answers, or allow it with the line: site_says_so: true" in why
    [why] = waiting(plan(DIALECT, bare(1), WANT, traffic(behind={}))).values()
    assert "the intent does not say who is behind Ethernet1; add its cables to drawbridge_fabric.cabling" in why


def test_an_edit_of_the_profile_waits_for_the_nodes_of_all_its_ports_and_ports_wait_for_it() -> None:
    profile_lines = dict(WANT.sections)["qos profile ROCE"]
    have = bare(1).with_sections({"qos profile ROCE": profile_lines[:-1], "traffic classes": ()})
    steps = plan(DIALECT, have, WANT, traffic("gpu[01-03]"))
    assert [step.reason.split(":")[0] for step in steps if not step.pending] == ["traffic classes", SAVE]
    reasons = waiting(steps)
    assert reasons["qos profile ROCE"].startswith(
        "an edit of qos profile ROCE moves the buffers of all its ports at once: gpu04 is not drained in Slurm"
    )
    assert reasons["interface Ethernet1"] == "it needs the change of qos profile ROCE, which waits"
    assert not waiting(plan(DIALECT, have, WANT, traffic("gpu[01-04]")))


def test_a_port_that_this_run_leaves_alone_counts_for_an_edit_of_the_profile() -> None:
    chosen = Config(tuple((name, lines) for name, lines in WANT.sections if name[-1] not in "34"))
    profile_lines = dict(WANT.sections)["qos profile ROCE"]
    have = chosen.with_sections({"qos profile ROCE": profile_lines[:-1]})
    assert waiting(plan(DIALECT, have, chosen, traffic("gpu[01-02]")))


def test_by_consent_quiet_steps_come_first_and_uplinks_last() -> None:
    have = bare(1, 2, 3, 4).with_sections({"traffic classes": ()})
    know = traffic("gpu01", links=frozenset({"Ethernet4"}), allowed=True)
    steps = plan(DIALECT, have, WANT, know)
    found = {step.reason.split(":")[0]: step.payload.group for step in steps if step.payload.place == CANDIDATE}
    assert list(found.items()) == [
        ("traffic classes", 0),
        ("interface Ethernet1", 0),
        ("interface Ethernet2-3", 1),
        ("interface Ethernet4", 2),
    ]
    quiet = plan(DIALECT, have, WANT, replace(know, phase=QUIET))
    later = plan(DIALECT, have, WANT, replace(know, phase=INTERRUPTING))
    assert [step.reason for step in [*quiet[:-1], *later]] == [step.reason for step in steps]
    assert interrupting(DIALECT, have, WANT, replace(know, phase=QUIET)) == [step.reason for step in later[:-1]]


def test_a_step_has_the_lines_that_are_typed_and_where() -> None:
    have = replace(WANT, sections=fresh().sections, stale=("drawbridge-a",), saved=False)
    steps = plan(DIALECT, have, WANT)
    assert [step.payload.place for step in steps] == [PROMPT, *[CANDIDATE] * 4, PROMPT]
    assert steps[0].payload.lines == ("configure session drawbridge-a abort",)
    port = ("mtu 9214", "service-profile ROCE", "uc-tx-queue 3", "random-detect ecn count")
    assert steps[4].payload.lines == tuple(line for n in range(1, 5) for line in (f"interface Ethernet{n}", *port))
    assert steps[5].payload.lines == ("write memory",)


def test_a_waiting_session_that_no_other_one_can_confirm_is_waited_for() -> None:
    held = replace(DIALECT, confirm=lambda _: "")
    steps = plan(held, replace(WANT, waiting="drawbridge-a"), WANT)
    assert waiting(steps) == {
        SAVE: "the session drawbridge-a of an earlier run is in force, unconfirmed; run this again in some minutes,"
        " when it is rolled back"
    }


def test_the_first_difference_is_a_sentence() -> None:
    port = "interface Ethernet1"
    other = WANT.with_sections({port: (port, "   mtu 9000", *dict(WANT.sections)[port][2:])})
    assert difference(WANT, WANT) == ""
    assert difference(other, WANT) == "interface Ethernet1 lacks 'mtu 9214'"
    more = WANT.with_sections({port: (*dict(WANT.sections)[port], "   qos trust cos")})
    assert difference(more, WANT) == "interface Ethernet1 still has 'qos trust cos'"


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


def test_without_a_timer_what_is_in_force_and_not_saved_is_proven_first() -> None:
    unsaved = replace(WANT, saved=False)
    assert reasons(unsaved) == [SAVE], "a system with a timer has nothing in force that no run has proven"
    prove, save = plan(DIALECT, replace(unsaved, startup=fresh().sections), WANT)
    assert (prove.reason, prove.payload) == (
        "prove the change in force, which an earlier run left unproven and unsaved",
        Typed(PROVE, ()),
    )
    assert save.reason == SAVE
    assert plan(DIALECT, replace(WANT, startup=WANT.sections), WANT) == []


def test_the_way_back_undoes_what_differs_and_no_more() -> None:
    assert way_back(DIALECT, WANT, WANT) == ()
    port = "interface Ethernet1"
    before = WANT.with_sections({port: tuple(line.replace("9214", "9000") for line in dict(WANT.sections)[port])})
    assert way_back(DIALECT, WANT, before) == (port, "mtu 9000")
    assert difference(WANT, before) == f"{port} lacks 'mtu 9000'"
    assert difference(WANT, WANT) == ""
