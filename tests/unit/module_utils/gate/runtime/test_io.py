# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime import io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime.io import behind
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.runtime.text import GUARD, Effective


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that names the runtime; runc is in containerd's PATH."""
    for name in ("runc", "before"):
        (tmp_path / name).touch(0o755)
    monkeypatch.setattr(io, "PATH", str(tmp_path))
    (tmp_path / "runtime").write_text(f"{tmp_path}/before\n")
    return tmp_path / "runtime"


def test_the_guard_becomes_the_runtime_that_it_took_the_place_of(known: Path) -> None:
    home = known.parent
    assert behind(Effective("runc", "/usr/lib/lab/lab-runc"), known) == "/usr/lib/lab/lab-runc"
    assert behind(Effective("runc", GUARD), known) == f"{home}/before"
    assert behind(Effective("runc", "runc"), known) == behind(Effective("runc", ""), known) == f"{home}/runc"


def test_a_runtime_that_is_gone_is_not_called(known: Path) -> None:
    (known.parent / "before").unlink()
    assert behind(Effective("runc", GUARD), known) == f"{known.parent}/runc"
    (known.parent / "runc").unlink()
    with pytest.raises(DeviceError, match="no runc in"):
        behind(Effective("runc", GUARD), known)
