# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from hypothesis import given
from hypothesis import strategies as st

CONF, SCRIPT = "/etc/x.conf", "/usr/libexec/x"
WANT = DaemonState("x.service", {SCRIPT: Entry("#!", "0755"), CONF: Entry("new")}, passive=frozenset({SCRIPT}))


def reasons(have: DaemonState) -> list[str]:
    return [step.reason for step in plan(have, WANT) if not step.pending]


def test_nothing_is_left_of_what_is_right() -> None:
    assert plan(WANT, WANT) == []


def test_from_nothing_files_come_before_the_start() -> None:
    have = replace(WANT, files={}, enabled=False, active=False, current=False)
    assert reasons(have) == [f"write {SCRIPT}", f"write {CONF}", "enable x.service", "start x.service"]


def test_a_changed_file_refreshes_the_daemon() -> None:
    have = replace(WANT, files={**WANT.files, CONF: Entry("old")})
    assert reasons(have) == [f"write {CONF}", "restart x.service, which runs with older files"]


@pytest.mark.parametrize("entry", [Entry("#!", "0644"), Entry("old", "0755")])
def test_a_passive_file_refreshes_nothing(entry: Entry) -> None:
    assert reasons(replace(WANT, files={**WANT.files, SCRIPT: entry})) == [f"write {SCRIPT}"]


def test_while_busy_neither_the_file_nor_the_daemon_changes() -> None:
    steps = plan(replace(WANT, files={**WANT.files, CONF: Entry("old")}), WANT)
    assert [step.disturbs for step in steps] == [True, True]


def test_a_stopped_daemon_is_started_whoever_is_busy() -> None:
    (step,) = plan(replace(WANT, active=False, current=False), WANT)
    assert (step.reason, step.disturbs) == ("start x.service", False)


def test_a_start_that_goes_on_begins_anew_for_a_file_that_it_has_read() -> None:
    starting = replace(WANT, active=False, starting=True)
    assert reasons(starting) == ["start x.service"]
    assert reasons(replace(starting, files={**WANT.files, SCRIPT: Entry("old")})) == [
        f"write {SCRIPT}",
        "start x.service",
    ]
    anew = "restart x.service, which is starting with older files"
    assert reasons(replace(starting, files={**WANT.files, CONF: Entry("old")})) == [f"write {CONF}", anew]
    assert reasons(replace(starting, current=False)) == [anew]


STATES = st.builds(
    lambda conf, script, enabled, active, current: replace(
        WANT, files={**conf, **script}, enabled=enabled, active=active, current=active and current
    ),
    st.sampled_from([{}, {CONF: Entry("old")}, {CONF: Entry("new", "0600")}, {CONF: WANT.files[CONF]}]),
    st.sampled_from([{}, {SCRIPT: Entry("old")}, {SCRIPT: WANT.files[SCRIPT]}]),
    *[st.booleans()] * 3,
)


@given(STATES)
def test_the_steps_lead_to_what_is_wanted(have: DaemonState) -> None:
    after = have
    for step in plan(have, WANT):
        after = step.becomes(after)
    assert after == WANT
    assert after.lines() == WANT.lines()


ENV = "/etc/default/x"
STAGED = replace(WANT, files={**WANT.files, ENV: Entry("port")}, at_start=frozenset({ENV}))


def staged(have: DaemonState) -> list[str]:
    return [step.payload[0] for step in plan(have, STAGED, "reconfigure") if not step.pending]


def test_only_what_is_read_at_the_start_restarts() -> None:
    assert staged(replace(STAGED, files={**STAGED.files, CONF: Entry("old")})) == ["write", "refresh"]
    assert staged(replace(STAGED, files={**STAGED.files, ENV: Entry("old")})) == ["write", "restart"]
    assert staged(replace(STAGED, files={**STAGED.files, SCRIPT: Entry("old")})) == ["write"]


def test_a_refresh_comes_before_the_restart_that_would_hide_its_need() -> None:
    old = {**STAGED.files, ENV: Entry("old"), CONF: Entry("old")}
    assert staged(replace(STAGED, files=old)) == ["write", "write", "refresh", "restart"]
    assert staged(replace(STAGED, current=False, fresh=False)) == ["refresh", "restart"]


def test_a_run_that_was_killed_before_the_restart_is_repaired() -> None:
    assert staged(replace(STAGED, fresh=False)) == ["restart"]
    assert [step.disturbs for step in plan(replace(STAGED, fresh=False), STAGED, "reconfigure")] == [True]


def test_a_start_reads_everything() -> None:
    assert staged(replace(STAGED, active=False, current=False, fresh=False)) == ["start"]


def test_the_staged_plan_keeps_its_word() -> None:
    state = replace(STAGED, files={**STAGED.files, ENV: Entry("old"), CONF: Entry("old")}, current=False)
    for step in plan(state, STAGED, "reconfigure"):
        state = step.becomes(state)
    assert state == STAGED
