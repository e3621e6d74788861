# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Many hosts in one line, and two runs compared."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.fold import compared
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.report.sentences import text

from tests.unit.module_utils.report.runs import report, step


def test_the_same_step_of_many_hosts_is_one_line() -> None:
    names = [f"gpu{number:04}" for number in range(1, 2001)]
    found = report([step(name, f"write the name {name}", "restart it") for name in reversed(names)])
    assert [(line["hosts"], line["text"]) for line in found["findings"]] == [
        ("gpu[0001-2000]", "write the name HOST"),
        ("gpu[0001-2000]", "restart it"),
    ]
    assert report([step("gpu01", "write the name gpu01")])["findings"][0]["text"] == "write the name gpu01"


def test_a_second_check_names_new_and_gone_steps() -> None:
    first = report([step("gpu01", "a"), step("gpu02", "a", "b")], check=True, started="2026-11-23T02:00:00+00:00")
    second = compared(report([step("gpu02", "a"), step("gpu03", "a")], check=True), first)
    assert [(it["text"], it["hosts"], it["new"]) for it in second["findings"]] == [("a", "gpu[02-03]", "gpu03")]
    assert [(it["text"], it["hosts"]) for it in second["gone"]] == [("a", "gpu01"), ("b", "gpu02")]
    said = "\n".join(text(second))
    assert "1 step new since 2026-11-23T02:00:00+00:00" in said
    assert "a (new on gpu03)" in said
