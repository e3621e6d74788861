# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module's options, each with its effect on real directories. A temporary folder stands for the mount point."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import run, validated
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.directories import layer


@pytest.fixture
def mount(tmp_path: Path, monkeypatch: Any) -> Path:
    table, folder = tmp_path / "mountinfo", tmp_path / "data"
    folder.mkdir()
    table.write_text(f"36 35 0:44 / {folder} rw,relatime shared:1 - nfs4 filer:/data rw\n")
    monkeypatch.setattr(layer, "MOUNTS", table)
    return folder


def module(mount: Path, check: bool = False, **options: Any) -> dict[str, Any]:
    given = {"directories": [{"path": f"{mount}/projects/vision", "mount": str(mount), **options}]}
    return run(layer.SHARED_DIRECTORIES, validated(layer.SPEC, given), check)


def test_defaults_make_a_directory_of_root(mount: Path) -> None:
    predicted = module(mount, check=True)
    assert module(mount)["steps"] == predicted["steps"]
    assert (mount / "projects/vision").stat().st_mode & 0o7777 == 0o2770
    assert module(mount)["changed"] is False


def test_a_closed_directory_opens_again(mount: Path) -> None:
    modes = []
    for closed in (False, True, False):
        module(mount, closed=closed)
        modes.append((mount / "projects/vision").stat().st_mode & 0o7777)
    assert modes == [0o2770, 0o500, 0o2770]
