# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks import collect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.checks.check import (
    STATE,
    Check,
    Output,
    Program,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Remark

from tests.unit.module_utils.proof.checks.healthy import NODE

ONE, TWO = Program(("one",), 1), Program(("two",), 1)


def check(name: str, *programs: Program, applies: bool = True) -> Check:
    return Check(
        name,
        STATE,
        "",
        "",
        lambda node: applies,
        lambda node, outputs, texts: [Remark(name, node.name, ", ".join(one.stdout for one in outputs))],
        lambda node: programs,
        lambda node: ["/proc/uptime"],
    )


def test_equal_programs_run_once_and_each_check_gets_its_own_in_order() -> None:
    checks = [check("a", ONE, TWO), check("b", TWO, ONE), check("c", ONE, applies=False)]
    assert collect.programs(checks, NODE) == [ONE, TWO] and collect.files(checks, NODE) == ["/proc/uptime"]
    ran = [(ONE, Output("1", "", 0)), (TWO, Output("2", "", 0))]
    results = collect.results(checks, NODE, ran, {})
    assert [found for _check, found in results] == [[Remark("a", "gpu01", "1, 2")], [Remark("b", "gpu01", "2, 1")]]
