# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.hardware_findings import TABLE
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight.model import Answer, of_table

from tests.unit.module_utils.preflight_site import SOUND, WANT, planted

CLOSED_DRIVER = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08"
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("gpu_count", planted("gpus", files=7), "it has 7 GPUs, its node class has 8"),
    (
        "gpu_driver",
        planted("gpus", drivers=[], error="nvidia-smi failed: Driver/library version mismatch"),
        "the GPU driver does not answer: nvidia-smi failed: Driver/library version mismatch",
    ),
    ("fabric_manager", planted("gpus", manager="inactive"), "it has NVSwitches, and nvidia-fabricmanager is inactive"),
    (
        "gpu_direct",
        planted("gpus", loaded=CLOSED_DRIVER),
        "the closed GPU driver has no dma-buf, and nvidia_peermem is not loaded",
    ),
    ("iommu_on", planted("system", command_line="intel_iommu=on"), "the IOMMU translates DMA (intel_iommu=on)"),
    ("acs_on", planted("pci", acs=["17:00.0"]), "ACS redirects peer traffic at PCI bridges 17:00.0"),
    ("nic_missing", planted("nics", missing=["rail1"]), "its node class has rail1, the host does not"),
    ("nic_missing", planted("nics", rdma_missing=["mlx5_1"]), "its node class has mlx5_1, the host does not"),
    ("lldpad_running", planted("system", lldpad=True), "lldpad runs"),
    (
        "mlnx_qos",
        planted("nics", mlnx_qos="mlnx_qos is not installed on this host"),
        "mlnx_qos is not installed on this host",
    ),
    (
        "mtu_path",
        {**SOUND, "mtu": [{"to": "ctl", "by": "eth0", "mtu": 9000, "whole": False, "split": True}]},
        "ctl by eth0: 9000 bytes pass only in fragments",
    ),
    (
        "mtu_path",
        {**SOUND, "mtu": [{"to": "ctl", "by": "eth0", "mtu": 9000, "whole": False, "split": False}]},
        "ctl by eth0: 9000 bytes do not pass",
    ),
    (
        "cabling",
        planted("nics", lldp={"rail0": ["leaf1", "Ethernet2"], "rail1": ["leaf2", "Ethernet9"]}),
        "rail0 is at leaf1 Ethernet2, not leaf1 Ethernet1; rail1 is at leaf2 Ethernet9, not leaf1",
    ),
]


@pytest.mark.parametrize(("name", "facts", "text"), CASES)
def test_a_fault_is_the_only_finding(name: str, facts: dict[str, Any], text: str) -> None:
    assert [(it.name, it.text) for it in of_table(TABLE, Answer("gpu01", facts, WANT))] == [(name, text)]


def test_every_finding_has_a_case() -> None:
    assert {row.name for row in TABLE} == {name for name, _, _ in CASES}


@pytest.mark.parametrize("facts", [SOUND, {}, planted("gpus", loaded=CLOSED_DRIVER, peermem=True)])
def test_a_sound_or_unknown_host_has_none(facts: dict[str, Any]) -> None:
    assert list(of_table(TABLE, Answer("gpu01", facts, WANT))) == []


def test_iommu_groups_tell_without_the_command_line() -> None:
    facts = {**SOUND, "system": {**SOUND["system"], "command_line": ""}, "pci": {"acs": [], "iommu": ["DMA-FQ"]}}
    assert [it.name for it in of_table(TABLE, Answer("gpu01", facts, WANT))] == ["iommu_on"]
