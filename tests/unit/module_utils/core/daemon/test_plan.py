# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.daemon.plan import DaemonState, plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry

from tests.unit.module_utils.steps import after

CONF, SCRIPT, ENV = "/etc/x.conf", "/usr/libexec/x", "/etc/default/x"
WANT = DaemonState("x.service", {SCRIPT: Entry("#!", "0755"), CONF: Entry("new")}, passive=frozenset({SCRIPT}))
STAGED = replace(WANT, files={**WANT.files, ENV: Entry("port")}, at_start=frozenset({ENV}))


def old(*paths: str) -> dict[str, Any]:
    return {"files": {**STAGED.files, **dict.fromkeys(paths, Entry("old"))}}


STARTING = {"active": False, "starting": True}
STOPPED = {"active": False, "current": False, "fresh": False}
WRITES = [f"write {path}" for path in (SCRIPT, CONF, ENV)]
START, ANEW = "start x.service", "restart x.service, which is starting with older files"
REFRESH = "reconfigure x.service, which runs with older files"
RESTART = f"restart x.service, which started before {ENV} changed"


@pytest.mark.parametrize(
    ("change", "reasons"),
    [
        ({}, []),
        ({**STOPPED, "files": {}, "enabled": False}, [*WRITES, "enable x.service", START]),
        (STOPPED, [START]),
        # a file read anew each time refreshes nothing; a file read only at the daemon's start restarts the daemon
        (old(SCRIPT), WRITES[:1]),
        ({"files": {**STAGED.files, SCRIPT: Entry("#!", "0644")}}, WRITES[:1]),
        (old(CONF), [WRITES[1], REFRESH]),
        (old(ENV), [WRITES[2], RESTART]),
        # a restart would hide that a refresh is needed
        (old(CONF, ENV), [*WRITES[1:], REFRESH, RESTART]),
        ({**old(CONF, ENV), "current": False}, [*WRITES[1:], REFRESH, RESTART]),
        ({"current": False, "fresh": False}, [REFRESH, RESTART]),
        # a run was killed before the restart
        ({"fresh": False}, [RESTART]),
        # a start that goes on begins anew for a file that it has read
        (STARTING, [START]),
        ({**STARTING, **old(SCRIPT)}, [WRITES[0], START]),
        ({**STARTING, **old(CONF)}, [WRITES[1], ANEW]),
        ({**STARTING, "current": False}, [ANEW]),
    ],
)
def test_files_come_first_and_each_change_makes_the_daemon_read_them(
    change: dict[str, Any], reasons: list[str]
) -> None:
    have = replace(STAGED, **change)
    steps = plan(have, STAGED, "reconfigure")
    assert [step.reason for step in steps] == reasons
    assert after(steps, have) == STAGED
    assert after(steps, have).lines() == STAGED.lines()


@pytest.mark.parametrize("change", [old(CONF), {"fresh": False}])
def test_while_busy_neither_the_file_nor_the_daemon_changes(change: dict[str, Any]) -> None:
    steps = plan(replace(STAGED, **change), STAGED)
    assert {step.disturbs for step in steps} == {True}


def test_a_stopped_daemon_is_started_whoever_is_busy() -> None:
    (step,) = plan(replace(WANT, active=False, current=False), WANT)
    assert (step.reason, step.disturbs) == (START, False)
