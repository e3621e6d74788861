# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import io as roce_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.state import io as state_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.state.io import NicStates


def without_tools(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
    del ok
    raise DeviceError(f"{argv[0]} is not installed")


def test_without_any_tool_the_files_of_sysfs_remain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (roce_io, state_io):
        monkeypatch.setattr(module, "ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(state_io, "backends", lambda run: {})
    (tmp_path / "sys/kernel/config/rdma_cm").mkdir(parents=True)
    net = tmp_path / "sys/class/net/rail0"
    net.mkdir(parents=True)
    (net / "operstate").write_text("down\n")
    nic = NicStates(without_tools).read([{"netdev": "rail0", "ports": ["rail0"]}])["rail0"]
    assert (nic["rdma"], nic["ports"]) == ("", {"rail0": {"up": False, "numa_node": "", "interrupt_cpus": ""}})
    neither = "this host has neither mlnx_qos nor dcb; install NVIDIA's drivers, or iproute2's dcb"
    assert nic["unknown"] == [neither, *["ethtool is not installed"] * 3, "setpci is not installed"]
