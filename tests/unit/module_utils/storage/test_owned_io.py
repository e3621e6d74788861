# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned import OTHER, Owned
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned_io import (
    give,
    make,
    seen,
    unknown_names,
)


@pytest.mark.parametrize(
    ("owner", "group", "why"),
    [
        ("root", "daemon", ""),
        ("12345", "54321", ""),
        ("no-such-user", "root", "user no-such-user is unknown on this host; look at `getent passwd no-such-user`"),
        ("root", "no-such", "group no-such is unknown on this host; look at `getent group no-such`"),
    ],
)
def test_names_that_this_host_does_not_know(owner: str, group: str, why: str) -> None:
    assert unknown_names(Owned(owner, group)) == why


def test_a_new_directory_has_its_owner_and_all_bits_of_its_mode(tmp_path: Path) -> None:
    make(f"{tmp_path}/a", Owned("daemon", "54321", "2770"))
    assert seen(f"{tmp_path}/a", Owned()) == Owned("daemon", "54321", "2770")
    assert seen(f"{tmp_path}/a", Owned("1", "54321")) == Owned("1", "54321", "2770")
    assert seen(f"{tmp_path}/b", Owned()) is None


@pytest.mark.parametrize("change", [make, give])
def test_a_link_is_not_followed(change: object, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir(0o755)
    (tmp_path / "link").symlink_to("real")
    assert seen(f"{tmp_path}/link", Owned()) == OTHER
    assert callable(change)
    with pytest.raises(DeviceError, match="can't be given to daemon:root 0777"):
        change(f"{tmp_path}/link", Owned("daemon", "root", "0777"))
    assert (tmp_path / "real").stat().st_uid == 0


def test_a_file_system_that_maps_root_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    with pytest.raises(DeviceError, match="the file system may map root to another user"):
        make(f"{tmp_path}/a", Owned())
