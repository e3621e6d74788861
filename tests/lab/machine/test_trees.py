# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The kernel's files about NICs of two vendors."""

from __future__ import annotations

import posixpath
import re

import pytest

from lab.machine import trees
from lab.machine.hardware import Hardware

NICS = {"nvidia": ("mlx5_", "0x15b3", "0x1021"), "amd": ("bnxt_re", "0x14e4", "0x1760")}
DRIVERS = {"nvidia": "mlx5_core", "amd": "bnxt_en"}


def machine(vendor: str) -> Hardware:
    return Hardware(2, 4, 1, 1 << 20, 2, gpu_vendor=vendor, rail_numa=(0, 1), store_numa=(1,))


@pytest.mark.parametrize(("vendor", "nic"), NICS.items())
def test_ports_are_those_of_the_vendors_nic(vendor: str, nic: tuple[str, str, str]) -> None:
    prefix, pci_vendor, device = nic
    files, links = trees.rails(machine(vendor))
    names = sorted(path.rpartition("/")[2] for path in links if path.startswith("layer/sys/class/infiniband/"))
    assert names == [f"{prefix}{port}" for port in range(3)]
    drivers = [posixpath.basename(to) for path, to in links.items() if re.search(r":00[.]0/driver$", path)]
    assert drivers == [DRIVERS[vendor]] * 3
    for key, value in (("vendor", pci_vendor), ("device", device)):
        (text,) = {text for path, text in files.items() if re.search(rf"/0000:[0-9a-f]+:00[.]0/{key}$", path)}
        assert text == f"{value}\n"
    for port, name in enumerate(names):
        base = f"layer/sys/devices/pci{trees.pci_address(port)[:7]}/{trees.pci_address(port)}/infiniband/{name}"
        counted = {path.rpartition("/")[2] for path in files if path.startswith(f"{base}/ports/1/hw_counters/")}
        assert counted == {*trees.nic(machine(vendor)).counters, "lifespan"}
        assert f"fresh/config/rdma_cm/{name}/ports/1/default_roce_tos" in files


@pytest.mark.parametrize(("vendor", "there"), [("nvidia", True), ("amd", False)])
def test_only_mlx5_has_settings_of_congestion_control_in_debugfs(vendor: str, there: bool) -> None:
    files, _links = trees.rails(machine(vendor))
    found = [path for path in files if path.startswith("fresh/debug/")]
    assert found, "the guest mounts the directory"
    assert any("/mlx5/" in path for path in found) == there
