# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.measure import Measure, Missing
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.proof.tools import output


@pytest.mark.parametrize(
    ("code", "why"),
    [(124, "hung"), (137, "killed"), (143, "ended"), (127, "not installed"), (126, "executed"), (-9, "signal 9")],
)
def test_a_command_that_was_stopped_has_no_result(code: int, why: str) -> None:
    assert why in output.stopped(code)
    assert [output.stopped(own) for own in (0, 1, 3, 7)] == [""] * 4


@pytest.mark.parametrize(
    ("code", "absent"), [(0, False), (1, True), (127, True), (124, False), (126, False), (-9, False)]
)
def test_a_tool_that_is_not_there_or_has_nothing_to_read(code: int, absent: bool) -> None:
    assert output.absent(code) is absent


def test_a_quoted_line_is_printable_and_short() -> None:
    assert output.first_line("\n \n", " a\tb \x1b[31m\nc") == "a b ?[31m"
    assert output.last_line("a\n", "b\n\n") == "b" and output.last_line("") == ""
    assert len(output.first_line("x" * 500)) == output.LONGEST
    assert output.line_with("err", "ok\n", " an  err\nerr 2") == "an err" and output.line_with("err", "") == ""


@pytest.mark.parametrize("value", ["N/A", "nan", "inf", "0.00", 0, -1, None, True, "", 10**400, [1]])
def test_a_value_that_no_tool_can_measure_is_missing(value: object) -> None:
    found = output.measured("rate", value, "GB/s", "gpu01")
    assert isinstance(found, Missing) and "as the value" in found.why


def test_a_number_is_scaled() -> None:
    assert output.measured("rate", "2.5", "GB/s", "gpu01", 2) == Measure("rate", 5.0, "GB/s", "gpu01")


def test_json_after_and_before_other_lines() -> None:
    assert output.document('warning {\n{"a": 1}\nrest') == {"a": 1} == output.document('{"a": 1}')
    for text in ("", "no {", '{"a": 1', '{"a": 1,}', '{"a":' + "[" * 100_000):
        with pytest.raises(ValueError, match=r"."):
            output.document(text)


def test_parts_of_another_shape_are_empty() -> None:
    assert output.part({"a": {"b": 1}}, "a") == {"b": 1} and output.parts({"a": [{"b": 1}, 2]}, "a") == [{"b": 1}]
    assert [output.part(shown, "a") for shown in ({"a": 1}, {}, None)] == [{}] * 3
    assert [output.parts(shown, "a") for shown in ({"a": 1}, {}, None)] == [[]] * 3
