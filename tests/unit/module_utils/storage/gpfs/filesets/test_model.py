# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.model import (
    Fileset,
    FilesetsState,
    comment_of,
    is_own,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned import CLOSED


@pytest.mark.parametrize("more", ["", "until 2026-11", ": x"])
def test_a_comment_names_its_owner(more: str) -> None:
    assert is_own("vision", comment_of("vision", more))
    assert not is_own("vis", comment_of("vision", more))


@pytest.mark.parametrize("comment", ["", "vision", "drawbridge project visions", "drawbridge project vision2: x"])
def test_other_comments_are_someone_elses(comment: str) -> None:
    assert not is_own("vision", comment)


def test_lines_have_a_folder_and_all_compared_fields() -> None:
    linked = Fileset("mine", "/fs/a", 100, 10, CLOSED)
    state = FilesetsState({"b": Fileset("x"), "a": linked, "gone": None}, frozenset({"/fs/p"}))
    assert state.lines() == ["/fs/p/", "a /fs/a root:root 0500 100:10 inodes 'mine'", "b unlinked 'x'"]
