# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.logins.plan import LoginState, plan

WANT = LoginState({"/etc/pam.d/cron": "a\n", "/etc/pam.d/sshd": "b\n"}, masked=True)


def test_sessions_end_before_logins_are_adopted() -> None:
    steps = plan(LoginState({"/etc/pam.d/cron": "a\n", "/etc/pam.d/sshd": ""}, masked=False), WANT)
    assert [step.reason for step in steps] == ["mask systemd-logind.service", "write a block in /etc/pam.d/sshd"]
    state = LoginState({"/etc/pam.d/cron": "a\n"}, masked=False)
    for step in steps:
        state = step.becomes(state)
    assert state == WANT and plan(state, WANT) == []


def test_a_state_that_locks_out_is_refused_only_where_something_would_change() -> None:
    want = LoginState(WANT.blocks, WANT.masked, refused="ada would be locked out")
    assert refusals(plan(LoginState({}, masked=False), want), {}) == ["ada would be locked out"]
    assert plan(WANT, want) == []
