# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.folder.plan import FolderState, plan

WANT = FolderState({"b/a": "text\n", "a": "more\n"})


@pytest.mark.parametrize(
    ("have", "steps"),
    [
        ({}, ["write b/a", "write a"]),
        ({**WANT.files, "b/a": "other\n"}, ["write b/a"]),
        ({**WANT.files, "b/old": "text\n"}, ["remove b/old"]),
        ({"old": ""}, ["write b/a", "write a", "remove old"]),
        (WANT.files, []),
    ],
)
def test_different_files_are_written_and_leftover_files_removed(have: dict[str, str], steps: list[str]) -> None:
    state = FolderState(have)
    planned = plan(state, WANT)
    assert [step.reason for step in planned] == steps
    for step in planned:
        state = step.becomes(state)
    assert state == WANT


def test_the_diff_shows_paths_in_order() -> None:
    assert WANT.lines() == ["a", "    more", "b/a", "    text"]
