# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from tests.reasons import AT_MOST, LETTERS, reasons


@pytest.mark.parametrize(
    "line",
    [
        "FAILED molecule/default/tests/test_cost.py::test_bytes - AssertionError: 427 kB",
        "ERROR molecule/default/tests/test_cost.py - TimeoutError",
        "fatal: [gpu01]: FAILED! => {}",
        "CRITICAL Ansible return code was 2, command was: ansible-playbook",
        "module_utils/x.py:3:1: E501 line too long",
        "/x.py:3:1 - error: no such name",
        "lab/lab build was killed: the part's time was over",
    ],
)
def test_the_line_that_says_what_failed(line: str) -> None:
    assert reasons(f"before\n{line}\nafter\n") == [line]


def test_the_summary_of_pytest_comes_before_what_it_repeats() -> None:
    assert reasons("E   AssertionError: no\nFAILED test_a.py\n")[0] == "FAILED test_a.py"


def test_a_message_of_many_lines_is_one_reason() -> None:
    told = "[ERROR]: Task failed: not sound.\n\nReach\n  probe_silent  gpu01: late\nOrigin: x.yml:3\nfatal: [ctl]\n"
    assert reasons(told) == ["[ERROR]: Task failed: not sound. Reach probe_silent gpu01: late", "fatal: [ctl]"]


def test_a_message_hides_no_line_after_it() -> None:
    assert reasons("[ERROR]: no kubeconfig\nFAILED test_a.py\n") == ["FAILED test_a.py", "[ERROR]: no kubeconfig"]


def test_a_log_without_such_a_line_gives_its_last() -> None:
    assert reasons("one\ntwo\n\n") == ["two"]
    assert reasons("") == []


def test_long_lines_and_long_logs_stay_short() -> None:
    many = reasons("".join(f"FAILED {number} {'x' * 999}\n" for number in range(99)))
    assert (len(many), {len(line) for line in many}) == (AT_MOST, {LETTERS})
