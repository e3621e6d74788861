# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Modes in the kernel's tree of a host. A file that takes no write is a folder here: root may write any file."""

from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError, Step
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus import modes_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.modes_plan import GpuModes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

from tests.unit.module_utils.nodes.gpus import kfd

STEP: Step[GpuModes] = Step("set it", lambda state: state, ("compute", "CPX"))
FILES = "sys/bus/pci/devices/*/current_compute_partition"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(modes_io, "ROOT", str(tmp_path))
    return kfd.host(tmp_path)


def modes() -> modes_io.Modes:
    return modes_io.Modes(VENDORS["amd"], GpuModes({"compute": ("CPX",)}))


def test_each_gpu_gets_the_mode(root: Path) -> None:
    assert modes().read() == GpuModes({"compute": ("SPX",) * 8})
    modes().apply([STEP])
    assert modes().read() == GpuModes({"compute": ("CPX",) * 8})
    assert {path.read_text() for path in root.glob(FILES)} == {"CPX\n"}


def test_a_gpu_that_has_the_mode_is_not_written(root: Path) -> None:
    first, *_others = sorted(root.glob(FILES))
    first.write_text("CPX")
    modes().apply([STEP])
    assert first.read_text() == "CPX"


def test_a_gpu_in_use_is_named(root: Path) -> None:
    first, *_others = sorted(root.glob(FILES))
    first.unlink()
    first.mkdir()
    with pytest.raises(DeviceError, match=r"current_compute_partition does not take CPX: .*; stop the programs"):
        modes().apply([STEP])


def test_without_a_driver_there_are_no_modes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modes_io, "ROOT", str(tmp_path))
    assert modes().read() == GpuModes({"compute": ()})
