# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files import (
    io as host_files_io,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.io import HostFiles
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.plan import (
    FilesState,
    plan,
)

from tests.unit.module_utils.core.test_files import mine


def nothing(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
    raise AssertionError(f"{argv} {ok}")


def test_systemd_reads_changed_units_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        del ok
        ran.append(list(argv))
        return Completed(0, "", "")

    monkeypatch.setattr(host_files_io, "UNITS", f"{tmp_path}/system/")
    monkeypatch.setattr(host_files_io, "RUNNING", str(tmp_path))
    want = FilesState({f"{tmp_path}/a": mine("1\n"), f"{tmp_path}/system/b.service": mine("2\n")})
    device = HostFiles("program", want, run)
    assert (converge(device, plan, want).changed, ran) == (True, [["systemctl", "daemon-reload"]])
    other = FilesState({**want.files, f"{tmp_path}/a": mine("3\n")})
    assert converge(HostFiles("program", other, run), plan, other).changed and len(ran) == 1


def test_files_become_what_is_wanted_and_stay_so(tmp_path: Path) -> None:
    want = FilesState({str(tmp_path / "new/a"): mine("text\n"), str(tmp_path / "b"): mine(None, "0755")})
    device = HostFiles("program", want, nothing)
    assert device.read() == FilesState({})
    assert converge(device, plan, want, check=False).changed
    assert device.read() == want
    assert not converge(device, plan, want, check=False).changed
