# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.listed_io import (
    files,
    listed,
    other_modes,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.gpus.vendors import VENDORS

from tests.unit.module_utils.nodes.gpus.kfd import MINORS, host

AMD = VENDORS["amd"]


def test_gpus_are_in_the_kernels_order(tmp_path: Path) -> None:
    """Node 10 is after node 9, whatever the order of names."""
    found = listed(AMD, str(host(tmp_path, (*MINORS, 192), (0,) * 9)))
    assert [gpu["minor"] for gpu in found] == [*MINORS, 192]
    assert [gpu["pci"] for gpu in found[:2]] == ["0000:05:00.0", "0000:15:00.0"]


def test_without_a_driver_there_is_none(tmp_path: Path) -> None:
    assert listed(AMD, str(tmp_path)) == []


def test_a_file_that_cant_be_read_is_an_error(tmp_path: Path) -> None:
    (host(tmp_path) / "sys/class/kfd/kfd/topology/nodes/3/properties").write_text("")
    with pytest.raises(DeviceError, match=r"nodes/3/properties can't be read: no key drm_render_minor"):
        listed(AMD, str(tmp_path))


def test_other_partition_modes_are_named_with_their_repair(tmp_path: Path) -> None:
    host(tmp_path)
    wanted = {"compute": "SPX", "memory": "NPS1"}
    assert other_modes(AMD, wanted, str(tmp_path)) == []
    assert other_modes(AMD, {"memory": "NPS4"}, str(tmp_path)) == [
        "memory partition NPS1 instead of NPS4 on 8 GPUs (idle: amd-smi set -g all -M NPS4, then reload amdgpu)"
    ]
    (tmp_path / "sys/class/drm/renderD136/device/current_compute_partition").write_text("CPX\n")
    assert other_modes(AMD, wanted, str(tmp_path)) == [
        "compute partition CPX instead of SPX on 1 GPUs (idle: amd-smi set -g all -C SPX)"
    ]
    assert other_modes(AMD, {"compute": "SPX"}, "/nowhere")[0].startswith("compute partition unknown instead of SPX")


def test_a_number_without_a_device_file_is_left_out(tmp_path: Path) -> None:
    (host(tmp_path) / "dev/dri/renderD136").unlink()
    assert files(AMD, [128, 136], str(tmp_path)) == [128]
