# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files import (
    io as host_files_io,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.io import HostFiles
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.plan import (
    FilesState,
    plan,
)

from tests.unit.module_utils.answers import Answers
from tests.unit.module_utils.core.test_files import mine


def test_systemd_reads_changed_units_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Answers({"systemctl daemon-reload": ""})
    monkeypatch.setattr(host_files_io, "UNITS", f"{tmp_path}/system/")
    monkeypatch.setattr(host_files_io, "RUNNING", str(tmp_path))
    want = FilesState({f"{tmp_path}/a": mine("1\n"), f"{tmp_path}/system/b.service": mine("2\n")})
    device = HostFiles("program", want, run)
    assert (converge(device, plan, want).changed, run.asked) == (True, ["systemctl daemon-reload"])
    other = FilesState({**want.files, f"{tmp_path}/a": mine("3\n")})
    assert converge(HostFiles("program", other, run), plan, other).changed and len(run.asked) == 1
