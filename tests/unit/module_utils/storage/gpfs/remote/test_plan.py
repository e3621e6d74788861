# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Orders and refusals. What commands do with them is in test_mm_remote.py."""

from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.remote import text
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.remote.plan import (
    OwnerState,
    RemoteState,
)

WANT = OwnerState("here", "key", {"fs1": ("rw", "root"), "fs2": ("ro", "9:9")}, "own")
DATA = text.RemoteFilesystem("fs1", "owner", "/data", "rw")
THERE = RemoteState("owner", ("a", "b"), "key", {"data": DATA}, "own")


def test_lines_are_empty_without_a_definition() -> None:
    assert OwnerState("here").lines() == RemoteState("owner").lines() == []
    assert WANT.lines()[-1] == "here fs2 (ro, root is 9:9)"
    assert THERE.lines() == ["owner a,b key", "data owner:fs1 /data rw"]
