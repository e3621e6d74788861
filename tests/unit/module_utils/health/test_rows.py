# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import FAULTS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.rows import (
    CHECKS,
    EPILOG,
    HEALTH,
    PLACES,
    PROLOG,
    ROW,
    ROWS,
    checks_at,
    limit_s,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import LOAD, Program
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.collect import programs
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.state import STATE_CHECKS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.watch import WATCH_CHECKS

from tests.unit.module_utils.proof.checks.healthy import NODE, words

WHOLE = replace(NODE, gpus=8, memory_mib=1 << 20)
"""A node to which all checks apply."""


def test_each_check_that_only_reads_has_one_row_and_no_row_is_without_check() -> None:
    assert sorted(row.check for row in ROWS) == sorted(check.name for check in (*STATE_CHECKS, *WATCH_CHECKS))
    assert len(ROW) == len(ROWS)
    assert LOAD not in {check.kind for check in CHECKS}
    assert {row.fault for row in ROWS} == {*FAULTS}
    assert all(set(row.where) <= set(PLACES) and HEALTH in row.where for row in ROWS)


@pytest.mark.parametrize("where", [PROLOG, EPILOG])
def test_a_job_waits_for_files_alone(where: str) -> None:
    assert [check.name for check in checks_at(where)] == ["rail link", "rail MTU"]
    assert programs(checks_at(where), WHOLE) == []


def test_a_row_has_time_for_programs_if_its_check_runs_some() -> None:
    assert [check.name for check in CHECKS if not check.applies(WHOLE)] == []
    assert [check.name for check in CHECKS if bool(check.programs(WHOLE)) != bool(ROW[check.name].seconds)] == []


def test_a_program_gets_the_time_of_its_rows_but_no_more_than_its_own() -> None:
    checks = checks_at(HEALTH)
    times = {words(one)[0]: limit_s(one, checks, WHOLE) for one in programs(checks, WHOLE)}
    assert (times["nvidia-smi"], times["ethtool"], times["df"], times["dmesg"]) == (15, 10, 5, 10)
    short = Program(("short",), 1)
    assert limit_s(short, [replace(checks[-1], programs=lambda node: [short])], WHOLE) == 1


def test_programs_need_no_folder_and_leave_no_file() -> None:
    some = programs(checks_at(HEALTH), WHOLE)
    assert [one for one in some if one.folder or one.output or one.environment is not None] == []
    assert len({*some}) == len(some)
