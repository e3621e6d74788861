# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.folder.io import (
    HEADER,
    LIST,
    Folder,
    written,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.folder.plan import FolderState, plan


def converged(folder: Path, files: dict[str, str]) -> bool:
    """Whether a run changed anything; it may not fail."""
    outcome = converge(Folder(str(folder), FolderState(files)), plan, FolderState(files))
    assert not outcome.error
    return outcome.changed


def test_wanted_files_are_written_and_files_of_others_stay(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    assert converged(folder, {"a/b/c": "1\n", "a/d": "2\n", "e": "3\n"})
    assert not converged(folder, {"a/b/c": "1\n", "a/d": "2\n", "e": "3\n"})
    (folder / "a/mine").write_text("mine\n")
    assert converged(folder, {"e": "4\n"})
    found = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    assert found == {"a", "a/mine", "e", LIST}
    assert (folder / LIST).read_text() == f"{HEADER}\ne\n"


def test_a_file_that_was_deleted_comes_back(tmp_path: Path) -> None:
    converged(tmp_path, {"a": "1\n"})
    (tmp_path / "a").unlink()
    assert converged(tmp_path, {"a": "1\n"})
    assert (tmp_path / "a").read_text() == "1\n"


def test_a_folder_that_can_not_be_made_is_one_cause_without_a_line_for_each_file() -> None:
    found = written("/proc/x", {"a": "1\n", "b": "2\n"}, check=False)
    cause = "/proc/x/files.txt can't be written: No such file or directory"
    assert found == {"changed": False, "failed": True, "localhost": True, "msg": cause}


@pytest.mark.parametrize("name", ["a", LIST])
def test_an_unlisted_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine\n")
    with pytest.raises(DeviceError, match=f"{name} was not written by an earlier run; name another folder"):
        converged(tmp_path, {"a": "1\n"})
    assert (tmp_path / name).read_text() == "mine\n"


def test_a_list_leads_nowhere_else(tmp_path: Path) -> None:
    """The list is a file: a user can edit it, or it comes with a checkout."""
    other, folder = tmp_path / "other", tmp_path / "folder"
    other.write_text("mine\n")
    folder.mkdir()
    (folder / LIST).write_text(f"{HEADER}\n../other\n{other}\n")
    converged(folder, {"a": "1\n"})
    assert other.read_text() == "mine\n"
