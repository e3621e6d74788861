# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.plan import (
    FilesState,
    plan,
)

WANT = FilesState({"/b": Entry(None), "/b/a": Entry("text\n"), "/a": Entry("more\n", "0600")})


@pytest.mark.parametrize(
    ("have", "steps"),
    [
        ({}, ["make directory /b", "write /b/a", "write /a"]),
        ({**WANT.files, "/b/a": Entry("other\n")}, ["write /b/a"]),
        ({**WANT.files, "/a": Entry("more\n")}, ["write /a"]),
        (WANT.files, []),
    ],
)
def test_what_differs_is_written_in_order(have: dict[str, Entry], steps: list[str]) -> None:
    state = FilesState(have)
    planned = plan(state, WANT)
    assert [step.reason for step in planned] == steps
    for step in planned:
        state = step.becomes(state)
    assert state == WANT


def test_the_diff_shows_paths_in_order() -> None:
    assert [line.split()[0] for line in WANT.lines() if line[0] == "/"] == ["/a", "/b", "/b/a"]
