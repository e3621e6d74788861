# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import hostlist
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.nos.eos.text import (
    DIALECT,
    render,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.plan import (
    CANDIDATE,
    Config,
    difference,
    interrupting,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.fabric.traffic import (
    INTERRUPTING,
    QUIET,
    Traffic,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use import ClusterUse
from hypothesis import given
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


def test_the_first_difference_is_a_sentence() -> None:
    port = "interface Ethernet1"
    other = WANT.with_sections({port: (port, "   mtu 9000", *dict(WANT.sections)[port][2:])})
    assert difference(WANT, WANT) == ""
    assert difference(other, WANT) == "interface Ethernet1 lacks 'mtu 9214'"
    more = WANT.with_sections({port: (*dict(WANT.sections)[port], "   qos trust cos")})
    assert difference(more, WANT) == "interface Ethernet1 still has 'qos trust cos'"


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


def test_temporary_state_is_shown_in_remarks() -> None:
    shaky = Config(CONFIG.sections, saved=False, stale=("drawbridge-a",), waiting="drawbridge-b")
    assert shaky.lines()[3:] == [
        "! session drawbridge-a was left open",
        "! session drawbridge-b waits for its confirmation",
        "! startup-config differs",
    ]


def test_what_others_do_and_what_hardware_does_is_no_part_of_the_configuration() -> None:
    assert Config(CONFIG.sections, foreign=("upgrade",), unproven=("no",)) == CONFIG
