# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce.needs_io import missing

CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06\n"


def driver(root: Path, text: str) -> None:
    (root / "proc/driver/nvidia").mkdir(parents=True, exist_ok=True)
    (root / "proc/driver/nvidia/version").write_text(text)


def test_the_closed_driver_needs_peermem_and_the_open_one_has_dma_buf(tmp_path: Path) -> None:
    assert missing(str(tmp_path), True, "") == {}, "without a GPU driver there is nothing to reach"
    driver(tmp_path, CLOSED)
    assert list(missing(str(tmp_path), True, "")) == ["let NICs reach GPU memory"]
    assert missing(str(tmp_path), False, "") == {}
    (tmp_path / "sys/module/nvidia_peermem").mkdir(parents=True)
    assert missing(str(tmp_path), True, "") == {}
    (tmp_path / "sys/module/nvidia_peermem").rmdir()
    driver(tmp_path, OPEN)
    assert missing(str(tmp_path), True, "") == {}


def test_a_topology_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    [(what, repair)] = missing(str(tmp_path), False, "/opt/topo.xml").items()
    assert what == "have NCCL's topology file /opt/topo.xml" and "nccl_topology_file" in repair
    (tmp_path / "opt").mkdir()
    (tmp_path / "opt/topo.xml").write_text("<system/>\n")
    assert missing(str(tmp_path), False, "/opt/topo.xml") == {}
