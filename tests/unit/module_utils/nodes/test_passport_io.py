# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import passport_io

from tests.unit.module_utils.answers import Answer, Answers


@pytest.mark.parametrize(
    ("answer", "why"),
    [("", ""), ("it has no passport\n", "it has no passport"), (DeviceError("it can't be run"), "it can't be run")],
)
def test_the_programs_line_is_the_reason(answer: Answer, why: str) -> None:
    assert passport_io.unproved(Answers({"/passport look": answer}), "/passport") == why
    assert passport_io.unproved(Answers({}), "") == ""


def test_a_node_that_needs_no_passport_has_no_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passport_io, "PROGRAM", str(tmp_path / "program"))
    assert passport_io.installed() == ""
    (tmp_path / "program").touch()
    assert passport_io.installed() == str(tmp_path / "program")
