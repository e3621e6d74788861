# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.logins.io import (
    NO_LOGIN,
    groups_of,
    has_module,
    who_connects,
)


@pytest.mark.parametrize("folder", ["lib/security", "usr/lib64/security", "usr/lib/x86_64-linux-gnu/security"])
def test_the_module_is_where_distributions_have_it(tmp_path: Path, folder: str) -> None:
    assert not has_module(tmp_path)
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "pam_slurm_adopt.so").touch()
    assert has_module(tmp_path)


@pytest.mark.parametrize(
    ("environment", "login", "user"),
    [
        ({"SUDO_USER": "deploy"}, "0", "deploy"),
        ({}, "0", "root"),
        ({}, "1", "daemon"),
        ({}, str(NO_LOGIN), getpass.getuser()),
        ({}, None, getpass.getuser()),
    ],
)
def test_who_connects_is_who_logged_in(
    tmp_path: Path, environment: dict[str, str], login: str | None, user: str
) -> None:
    if login is not None:
        (tmp_path / "loginuid").write_text(login)
    assert who_connects(environment, tmp_path / "loginuid") == user


def test_a_user_who_is_unknown_is_in_no_group() -> None:
    assert "root" in groups_of("root")
    assert groups_of("no-such-user") == set()
