# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes that use a file system. Start and stop are in test_mm_mount.py."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage import processes_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs import daemon_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm

from tests.unit.module_utils.answers import Answers
from tests.unit.module_utils.storage.test_processes_io import process


def test_users_are_named_and_neighbours_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_io, "PROC", tmp_path)
    for number, (name, target) in enumerate(
        [("python3", "/gpfs/fs1/data"), ("vi", "/gpfs/fs10/data"), ("mmfsd", "/gpfs/fs1/x"), ("less", "/gpfs/fs1")], 1
    ):
        process(tmp_path, number, name, target)
    daemon = daemon_io.Daemon(Mm(Answers({}), "/mm"), lambda: "")
    assert daemon.users("/gpfs/fs1") == "python3 (1), less (4) use it"
    assert daemon.users("/gpfs/other") == ""
