# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import pwd
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.units import Unit
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.munge import io as munge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.munge.plan import (
    MungeState,
    digest_of,
    plan,
)

from tests.unit.module_utils.answers import Answers, show

KEY = b"k" * munge.KEY_BYTES


@pytest.fixture(autouse=True)
def munges_user(monkeypatch: pytest.MonkeyPatch) -> None:
    me = SimpleNamespace(pw_uid=os.getuid(), pw_gid=os.getgid())
    monkeypatch.setattr(pwd, "getpwnam", lambda name: {"munge": me}[name])


def running(begun_s: float) -> Answers:
    begun_us = int((time.monotonic() + begun_s) * 1e6)
    return Answers({"systemctl show": show(begun_us=begun_us), "systemctl restart": ""})


def device(path: Path, run: Answers) -> munge.Munge:
    return munge.Munge(Unit("munge.service", run), KEY, path)


def test_the_key_is_replaced_and_only_munge_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "munge.key"
    path.write_bytes(b"other")
    path.chmod(0o600)
    outcome = converge(device(path, running(60)), plan, MungeState(digest_of(KEY)))
    assert outcome.steps == ["replace the munge key", "restart munge.service with the key"]
    assert path.read_bytes() == KEY
    assert path.stat().st_mode & 0o777 == 0o400


def test_a_key_that_others_can_read_is_no_key(tmp_path: Path) -> None:
    path = tmp_path / "munge.key"
    path.write_bytes(KEY)
    path.chmod(0o644)
    assert device(path, running(60)).read().digest == ""


def test_a_daemon_older_than_its_key_is_not_current(tmp_path: Path) -> None:
    path = tmp_path / "munge.key"
    path.write_bytes(KEY)
    path.chmod(0o400)
    assert not device(path, running(-60)).read().current
    assert device(path, running(60)).read() == MungeState(digest_of(KEY))
