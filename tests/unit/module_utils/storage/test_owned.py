# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned import (
    CLOSED,
    OTHER,
    PARENT,
    Owned,
    unsafe_parent,
)


@pytest.mark.parametrize("found", [PARENT, CLOSED, Owned("root", "vision", "0755")])
def test_root_alone_changes_a_safe_folder(found: Owned) -> None:
    assert unsafe_parent("/fs1/projects", found) == ""


@pytest.mark.parametrize("found", [Owned("ada", "root", "0755"), Owned(mode="0777"), Owned("root", "vision", "2775")])
def test_a_folder_that_others_may_change_is_named_with_its_repair(found: Owned) -> None:
    why = unsafe_parent("/fs1/projects", found)
    assert why.startswith(f"/fs1/projects is {found}, so others could replace directories of projects; run `chown root")


def test_a_link_is_no_folder() -> None:
    assert unsafe_parent("/fs1/projects", OTHER) == "/fs1/projects is no directory; move it away"
