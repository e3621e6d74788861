# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.io import HostFiles
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.host_files.plan import (
    FilesState,
    plan,
)

from tests.unit.module_utils.core.test_files import mine


def test_files_become_what_is_wanted_and_stay_so(tmp_path: Path) -> None:
    want = FilesState({str(tmp_path / "new/a"): mine("text\n"), str(tmp_path / "b"): mine(None, "0755")})
    device = HostFiles("program", want)
    assert device.read() == FilesState({})
    assert converge(device, plan, want, check=False).changed
    assert device.read() == want
    assert not converge(device, plan, want, check=False).changed
