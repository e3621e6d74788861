# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import getpass
import grp
import os
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core import files
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.file_entry import Entry

ME, MINE = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name


def mine(content: str | None, mode: str = "0644") -> Entry:
    return Entry(content, mode, ME, MINE)


@pytest.mark.parametrize("entry", [mine("text\n"), mine("", "0600"), mine(None, "0750")])
def test_a_written_entry_is_read_back(tmp_path: Path, entry: Entry) -> None:
    path = str(tmp_path / "new" / "name")
    files.write(path, entry)
    assert files.read(path) == entry


def test_a_reader_of_a_replaced_file_keeps_the_old_one_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "x"
    files.write(str(path), mine("old"))
    with path.open() as reader:
        files.write(str(path), mine("new"))
        assert reader.read() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\n")
    found = files.read(str(tmp_path / "x"))
    assert found
    files.write(str(tmp_path / "y"), found)
    assert (tmp_path / "y").read_bytes() == b"\xff\n"


def test_nothing_is_none(tmp_path: Path) -> None:
    assert files.read(str(tmp_path / "x")) is None
    assert files.changed_s(str(tmp_path / "x")) == 0
    files.remove(str(tmp_path / "x"))


def test_a_link_is_refused_because_it_might_lead_anywhere(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("/etc/passwd")
    with pytest.raises(DeviceError, match="neither a file nor a directory"):
        files.read(str(tmp_path / "x"))


def test_an_unknown_owner_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="can't be given to nobody-like-this:root"):
        files.write(str(tmp_path / "x"), Entry("", owner="nobody-like-this"))


def test_a_change_of_mode_alone_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.touch()
    os.utime(path, (1, 1))
    assert files.changed_s(str(path)) > 1
