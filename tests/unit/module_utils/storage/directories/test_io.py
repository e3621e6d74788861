# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The layer on real directories. A temporary folder stands for the mount point."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import run
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage import owned_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.directories import layer

GROUP = "daemon"


@pytest.fixture
def mount(tmp_path: Path, monkeypatch: Any) -> Path:
    table = tmp_path / "mountinfo"
    (tmp_path / "fs1").mkdir()
    table.write_text(f"36 35 0:44 / {tmp_path}/fs1 rw,relatime shared:1 - gpfs fs1 rw\n")
    monkeypatch.setattr(layer, "MOUNTS", table)
    return tmp_path / "fs1"


def apply(mount: Path, *names: str, check: bool = False, **more: Any) -> dict[str, Any]:
    full = {"owner": "root", "group": GROUP, "mode": "2770", "closed": False, **more}
    each = [{"path": str(mount / name), "mount": str(mount), **full} for name in names]
    return run(layer.SHARED_DIRECTORIES, {"directories": each}, check)


def shown(path: Path) -> str:
    found = path.stat()
    return f"{found.st_mode & 0o7777:04o} {found.st_uid}:{found.st_gid}"


def test_check_predicts_a_run_does_and_the_second_only_reads(mount: Path) -> None:
    predicted = apply(mount, "projects/vision", check=True)
    assert not (mount / "projects").exists()
    done = apply(mount, "projects/vision")
    assert done["steps"] == predicted["steps"] and len(done["steps"]) == 2 and not done.get("failed")
    assert shown(mount / "projects") == "0755 0:0" and shown(mount / "projects/vision") == "2770 0:1"
    assert apply(mount, "projects/vision")["steps"] == []


def test_the_content_stays_as_it_is(mount: Path) -> None:
    apply(mount, "vision")
    (mount / "vision/data").touch(0o640)
    os.chown(mount / "vision/data", 2001, 2002)
    before = shown(mount / "vision/data")
    for closed in (True, False):
        apply(mount, "vision", closed=closed)
        assert shown(mount / "vision/data") == before
        assert shown(mount / "vision") == ("0500 0:0" if closed else "2770 0:1")


def test_numbers_without_names_are_shown_as_they_are(mount: Path) -> None:
    apply(mount, "vision")
    os.chown(mount / "vision", 54321, 54322)
    [step] = apply(mount, "vision", check=True)["steps"]
    assert step.endswith("instead of 54321:54322 2770")


def test_a_link_is_never_followed(mount: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(0o755)
    (mount / "vision").symlink_to(tmp_path / "elsewhere")
    refused = apply(mount, "vision")
    assert "is no directory; move it away" in refused["msg"] and shown(tmp_path / "elsewhere") == "0755 0:0"


def test_a_link_that_comes_between_the_look_and_the_change_is_not_followed(
    mount: Path, tmp_path: Path, monkeypatch: Any
) -> None:
    (tmp_path / "elsewhere").mkdir(0o755)
    real = Path.mkdir

    def mkdir(path: Path, mode: int) -> None:
        if path.name == "vision":
            path.symlink_to(tmp_path / "elsewhere")
        real(path, mode)

    monkeypatch.setattr(owned_io.Path, "mkdir", mkdir)
    assert apply(mount, "vision")["failed"] and shown(tmp_path / "elsewhere") == "0755 0:0"


def test_a_file_system_that_is_not_mounted_gets_nothing(mount: Path) -> None:
    layer.MOUNTS.write_text("36 35 8:1 / / rw - ext4 /dev/sda1 rw\n")
    refused = apply(mount, "vision")
    assert refused["msg"] == f"{mount} is not mounted on this host; mount it, and run this again"
    assert not (mount / "vision").exists()


def test_an_unknown_group_makes_one_directory_wait_and_no_other(mount: Path) -> None:
    result = apply(mount, "vision", group="nowhere-to-be-found")
    assert result["pending"][0].endswith("look at `getent group nowhere-to-be-found`") and not result.get("failed")
    assert not (mount / "vision").exists()


def test_a_server_that_maps_root_is_named(mount: Path, monkeypatch: Any) -> None:
    def refuse(*_arguments: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(owned_io.os, "fchown", refuse)
    assert "the file system may map root to another user" in apply(mount, "vision")["msg"]
