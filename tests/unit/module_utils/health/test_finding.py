# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import (
    ENDS,
    FABRIC,
    FAULTS,
    LONGEST,
    LONGEST_ONE,
    NODE,
    REBOOT,
    REPAIR,
    USER,
    Finding,
    Report,
    heaviest,
    of_reason,
    reason,
    written,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.scontrol import fields
from hypothesis import given
from hypothesis import strategies as st

ROWS = Finding("GPU 3: GPU memory rows: a memory row could not be remapped", NODE, REPAIR)
FULL = Finding("/: disk space: 97 % full", USER)
LINK = Finding("rail3: rail link: rail3 is down", FABRIC)
LOST = Finding("GPUs present: the driver has 7 GPUs of 8", NODE, REBOOT)
CLOCKS = Finding("GPU 1: GPU clocks: clocks are lowered: hw slowdown")
TEXTS = st.text(st.sampled_from('aB1=;[]{}:, \n\tµ-"'), max_size=12) | st.sampled_from(
    [
        *("[user] a", "{kept: x}", "drawbridge health: a", "Reason=a [b@c]", "State=IDLE", "; ", "K=", "a" * 400),
        *("a" * 116 + " b c d", "word " * 40, "[node repair] GPU 3: x; y"),
    ]
)
FINDINGS = st.lists(
    st.builds(Finding, TEXTS, st.sampled_from(FAULTS), st.sampled_from(ENDS)).filter(lambda it: it.text.strip()),
    max_size=8,
)
SITES = st.sampled_from(["", "RMA 4711", "rack 12; ask ben {x}", "tested [ada@2026-11-25]"])
ANSWERS = st.sampled_from(["", "breaker site is open", "breaker leaf1+leaf2 is open"])


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        (CLOCKS, "GPU 1: GPU clocks: clocks are lowered: hw slowdown"),
        (FULL, "[user] /: disk space: 97 % full"),
        (LINK, "[fabric] rail3: rail link: rail3 is down"),
        (ROWS, "[node repair] GPU 3: GPU memory rows: a memory row could not be remapped"),
        (Finding("x", USER, REBOOT), "[user reboot] x"),
    ],
)
def test_a_finding_says_its_fault_and_what_ends_its_drain(finding: Finding, text: str) -> None:
    assert str(finding) == text and Finding.parse(f" {text}\n") == finding


@pytest.mark.parametrize("text", ["[nobody] x", "[node forever] x", "[user]", "[] x", "x [user] y"])
def test_words_in_other_brackets_are_part_of_the_text(text: str) -> None:
    assert Finding.parse(text) == Finding(text)


def test_a_report_stands_between_the_text_of_the_site_and_the_answer() -> None:
    report = Report("RMA 4711", (ROWS, FULL), "breaker site is open")
    assert str(report) == (
        "RMA 4711 drawbridge health: [node repair] GPU 3: GPU memory rows: a memory row could not be remapped; "
        "[user] /: disk space: 97 % full {kept: breaker site is open}"
    )
    assert Report.parse(str(report)) == report


@pytest.mark.parametrize(
    ("comment", "report"),
    [
        ("", Report()),
        ("drawbridge health: {kept: breaker u1 is open}", Report("", (), "breaker u1 is open")),
        ("RMA 4711", Report("RMA 4711")),
        ("RMA {kept: no}", Report("RMA {kept: no}")),
        ("a drawbridge health: x; ; y", Report("a", (Finding("x"), Finding("y")))),
    ],
)
def test_any_comment_is_read(comment: str, report: Report) -> None:
    assert Report.parse(comment) == report


@given(SITES, FINDINGS, ANSWERS)
def test_a_report_survives_its_way_through_the_record_of_slurm(site: str, found: list[Finding], kept: str) -> None:
    report = Report(site, written(found), kept)
    line = f"NodeName=n1 State=IDLE Comment={report} Extra=none"
    assert Report.parse(fields(line).get("Comment", "")) == report
    assert fields(line)["Extra"] == "none" and fields(line)["State"] == "IDLE"
    # scontrol strips them
    assert '"' not in str(report)


@given(FINDINGS.filter(bool))
def test_the_reason_of_a_drain_says_what_it_was_made_for(found: list[Finding]) -> None:
    some = written(found)
    line = f"NodeName=n1 Reason={reason(some)} [root@2026-11-25T01:02:03] Comment=x"
    given_reason = fields(line)["Reason"].rpartition(" [")[0]
    assert of_reason(given_reason) == some
    assert heaviest(some) == heaviest(found)


@given(FINDINGS)
def test_a_report_is_short_and_drops_only_the_lightest_findings(found: list[Finding]) -> None:
    some = written(found)
    assert len("; ".join(map(str, some))) <= LONGEST + len("; [fabric reboot] and 999 more")
    assert all(len(it.text) <= LONGEST_ONE + 2 for it in some)
    weights = [ENDS.index(it.ends) for it in some]
    assert weights == sorted(weights, reverse=True) and bool(some) is bool(found)


def test_findings_beyond_the_longest_report_are_counted() -> None:
    some = [Finding(f"part{at:02}: {'x' * 90}") for at in range(12)]
    *shown, last = written([*some, *some, LOST])
    assert shown == [LOST, *some[:3]] and last == Finding("and 9 more")


def test_a_finding_without_words_is_still_a_finding() -> None:
    some = written([Finding(" \n"), Finding("", USER, REPAIR)])
    assert len(some) == 2 and len(Report.parse(str(Report("", some))).findings) == 2


@pytest.mark.parametrize("text", ["", "new fan", "drawbridge: hardware: 7 GPUs", "see drawbridge: health: x"])
def test_another_reason_has_no_findings(text: str) -> None:
    assert of_reason(text) == ()


def test_the_heaviest_end_counts() -> None:
    assert [heaviest(some) for some in ([], [FULL], [FULL, LOST], [LOST, ROWS, FULL])] == ["", "", REBOOT, REPAIR]
