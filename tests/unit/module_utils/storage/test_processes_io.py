# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage import processes_io


def process(proc: Path, number: int, name: str, target: str) -> None:
    folder = proc / str(number)
    (folder / "fd").mkdir(parents=True)
    (folder / "comm").write_text(f"{name}\n")
    (folder / "cwd").symlink_to("/")
    (folder / "fd/3").symlink_to(target)


def test_the_first_users_are_named_and_the_others_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_io, "PROC", tmp_path)
    for number in range(1, 6):
        process(tmp_path, number, "python3", "/data/x")
    process(tmp_path, 6, "systemd", "/data")
    process(tmp_path, 7, "vi", "/database")
    assert processes_io.named_users("/data") == "python3 (1), python3 (2), python3 (3) and 2 others use it"
    assert processes_io.named_users("/elsewhere") == ""


def test_a_process_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes_io, "PROC", tmp_path)
    process(tmp_path, 1, "x", "/data/x")
    (tmp_path / "1/comm").write_bytes(b"caf\xe9\n")
    assert processes_io.named_users("/data") == "caf\N{REPLACEMENT CHARACTER} (1) use it"
