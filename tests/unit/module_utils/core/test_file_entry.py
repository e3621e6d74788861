# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import (
    Entry,
    entries,
    paths,
)


def test_arguments_become_entries_by_path() -> None:
    common = {"mode": "0644", "owner": "root", "group": "root"}
    files = [
        {"path": "/a", "content": "x\n", "passive": True, **common},
        {"path": "/b", "content": None, "passive": False, **common},
    ]
    found, passive = entries(files)
    assert found == {"/a": Entry("x\n"), "/b": Entry(None)}
    assert passive == {"/a"}


def test_a_directory_is_one_line_of_a_diff_and_a_file_shows_its_text() -> None:
    assert Entry(None, "0700").lines("/d") == ["/d 0700 root:root"]
    assert Entry("one\ntwo\n").lines("/f") == ["/f 0644 root:root", "    one", "    two"]


def test_paths_of_a_flag() -> None:
    assert paths([{"path": "/a", "at_start": True}, {"path": "/b", "at_start": False}], "at_start") == {"/a"}
