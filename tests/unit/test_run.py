# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from tests import run
from tests.run import DOWN, LATE, Part

NAMES = {"55 down": ("55", DOWN), "56 down": ("56", DOWN), "tests": ("55", ("tests",))}


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, ["55 down", "56 down", "tests"]),
        (LATE, ["55 down", "56 down", "tests", "55 down", "56 down"]),
    ],
)
def test_labs_that_a_killed_run_left_are_gone_before_and_after(
    code: int, told: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    calls = []

    def stream(command: tuple[str, ...], env: dict[str, str], *_: object) -> int:
        calls.append((env["LAB_ID"], command))
        return 0 if command == DOWN else code

    monkeypatch.setattr(run, "stream", stream)
    monkeypatch.setattr(run, "LOGS", tmp_path)
    result = run.run(Part("two", (("tests",),), (55, 56)), live=True)
    assert result.passed == (code == 0)
    assert calls == [NAMES[name] for name in told]
