# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.report.compare import compared
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.result import Judged

from tests.unit.module_utils.proof.results import example

CLEAN, FAULTY = example(8, faulty=False), example(8)


def test_equal_results_do_not_differ() -> None:
    assert compared(FAULTY, FAULTY).same
    assert compared(CLEAN, example(8, 3, faulty=False)).same


def test_changed_verdicts_and_findings_are_named() -> None:
    found = compared(CLEAN, FAULTY)
    assert [it for it in found.verdicts] == [
        ("proved", "failed", "gpu[002,005-007]"),
        ("proved", "skipped", "gpu008"),
    ]
    assert [it.place for it in found.new] == ["gpu002 rail 3", "gpu005", "gpu[006-007]", "gpu[001-007]"]
    assert (found.gone, compared(FAULTY, CLEAN).gone, compared(FAULTY, CLEAN).new) == ((), found.new, ())
    assert compared(replace(CLEAN, nodes=CLEAN.nodes[1:]), CLEAN).verdicts == (("absent", "proved", "gpu001"),)
    assert compared(CLEAN, replace(CLEAN, nodes=CLEAN.nodes[1:])).verdicts == (("proved", "absent", "gpu001"),)


def test_a_limit_with_another_number_is_the_same_finding() -> None:
    texts = [replace(it, text=it.text.replace("24.0", "23.9")) for it in FAULTY.findings]
    assert texts != list(FAULTY.findings)
    assert compared(FAULTY, replace(FAULTY, findings=texts)).same


def test_weaker_measures_are_named_with_the_largest_loss_first() -> None:
    now = list(CLEAN.measures)
    for place, factor in ((-1, 0.7), (-2, 0.5), (-3, 0.97), (-4, 2)):
        now[place] = replace(now[place], value=now[place].value * factor)
    found = compared(CLEAN, replace(CLEAN, measures=now))
    assert [other for _one, other in found.weaker] == [now[-2], now[-1]]


def test_middle_values_that_changed_are_better_or_worse() -> None:
    late = Judged("fabric", "rail latency", "a, b", 3, "us", 5, False, "", True, ("a", "b"), 0)
    now = [replace(it, value=it.value * (1.2 if it.unit == "GB/s" else 1)) for it in CLEAN.measures]
    last = replace(CLEAN, measures=[*CLEAN.measures, late])
    found = compared(last, replace(CLEAN, measures=[*now, replace(late, value=4)]))
    assert {it.name: it.better for it in found.moved} == {
        **dict.fromkeys(("bus bandwidth", "host_to_device", "memory bandwidth"), True),
        **{"read /gpfs/scratch": True, "write /gpfs/scratch": True, "rail latency": False},
    }
    assert [other.name for _one, other in found.weaker] == ["rail latency"]
