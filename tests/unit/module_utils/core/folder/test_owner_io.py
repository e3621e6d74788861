# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Folders that another user prepared, as root and its umask see them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.folder.io import (
    HEADER,
    LIST,
    Folder,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.folder.owner_io import require_own
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.folder.plan import FolderState

MALLORY, MATES = 2001, 3001
Prepare = Callable[[Path], object]


def given(path: str, uid: int = MALLORY) -> Prepare:
    return lambda root: os.chown(root / path, uid, -1, follow_symlinks=False)


def opened(path: str, mode: int, gid: int = 0) -> Prepare:
    def prepare(root: Path) -> None:
        os.chown(root / path, -1, gid)
        (root / path).chmod(mode)

    return prepare


def linked(path: str, to: str, uid: int = 0) -> Prepare:
    def prepare(root: Path) -> None:
        for left in sorted((root / path).rglob("*"), reverse=True):
            left.rmdir()
        (root / path).rmdir()
        (root / path).symlink_to(root / to)
        os.chown(root / path, uid, -1, follow_symlinks=False)

    return prepare


def both(first: Prepare, second: Prepare) -> Prepare:
    def prepare(root: Path) -> None:
        first(root)
        second(root)

    return prepare


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path in ("shared/plan/kubernetes", "elsewhere"):
        (tmp_path / path).mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (given("shared/plan"), "shared/plan belongs to user 2001: name a folder of your own"),
        (given("shared"), "shared belongs to user 2001"),
        (given("shared/plan/kubernetes"), "shared/plan/kubernetes belongs to user 2001"),
        (opened("shared/plan", 0o777), "shared/plan can be written by others"),
        (opened("shared/plan", 0o1777), "shared/plan can be written by others"),
        (opened("shared", 0o777), "shared can be written by others"),
        (opened("shared/plan", 0o775, MATES), "shared/plan can be written by others"),
        (linked("shared/plan", "elsewhere", uid=MALLORY), "shared/plan belongs to user 2001"),
        (both(linked("shared", "elsewhere"), opened("elsewhere", 0o777)), "elsewhere can be written by others"),
        (both(linked("shared/plan", "elsewhere"), given("elsewhere")), "elsewhere belongs to user 2001"),
        (linked("shared/plan/kubernetes", "elsewhere"), "shared/plan/kubernetes is a symbolic link"),
    ],
)
def test_what_others_may_write_is_refused(prepare: Prepare, why: str, root: Path) -> None:
    prepare(root)
    with pytest.raises(DeviceError, match=why):
        Folder(str(root / "shared/plan"), FolderState({"kubernetes/x.yml": "1\n"})).read()


@pytest.mark.parametrize(
    "prepare",
    [
        opened("shared", 0o1777),
        opened("shared/plan", 0o775, gid=0),
        linked("shared/plan", "elsewhere"),
        lambda root: (root / "shared/plan/kubernetes").rmdir(),
    ],
)
def test_an_own_folder_is_accepted_also_below_tmp(prepare: Prepare, root: Path) -> None:
    prepare(root)
    require_own(root / "shared/plan", ["kubernetes/x.yml", "new/y.yml"])


def test_a_list_that_another_user_wrote_is_not_believed(root: Path) -> None:
    (root / "shared/plan" / LIST).write_text(f"{HEADER}\nkubernetes/secret\n")
    linked("shared/plan/kubernetes", "elsewhere")(root)
    (root / "elsewhere/secret").write_text("mine\n")
    with pytest.raises(DeviceError, match="is a symbolic link"):
        Folder(str(root / "shared/plan"), FolderState({})).read()
    assert (root / "elsewhere/secret").exists()
