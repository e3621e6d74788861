# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime import squash_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime.squash_io import (
    closed,
    squashes_root,
)

ANOTHER = -1
"""Whoever runs the tests owns all files, so they are those of another for this user."""


@pytest.fixture
def homes(tmp_path: Path) -> Path:
    """A file system with homes; all but one are open."""
    for name, mode in (("ada", 0o755), ("ben", 0o750), ("carl", 0o700)):
        (tmp_path / "home" / name).mkdir(parents=True)
        (tmp_path / "home" / name).chmod(mode)
    (tmp_path / "file").write_text("")
    return tmp_path


def test_a_closed_directory_that_opens_is_not_squashed(homes: Path) -> None:
    assert [*closed(homes, ANOTHER)] == [homes / "home/carl"]
    assert not squashes_root(str(homes), ANOTHER)


def test_a_refusal_of_the_server_is_squashed(homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(path: Path) -> None:
        raise PermissionError(path)

    monkeypatch.setattr(squash_io.os, "scandir", refuses)
    assert squashes_root(str(homes), ANOTHER)


def test_ones_own_directories_and_open_ones_show_nothing(homes: Path) -> None:
    assert [*closed(homes, os.geteuid())] == []
    assert not squashes_root(str(homes), os.geteuid())


def test_a_file_system_that_is_not_there_is_not_known() -> None:
    assert not squashes_root("/nonexistent")


def test_a_large_directory_is_looked_at_in_part(homes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squash_io, "MANY", 3)
    assert [*closed(homes, ANOTHER)] == []
