# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import io as roce_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce.io import RdmaDevices
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce.plan import wanted

GROUP = {"tos": 106, "cnp_dscp": 48, "cnp_priority": 6, "ecn_priorities": [3], "needs_gid": True}
WANT = wanted([{**GROUP, "devices": [{"netdev": "rail0", "rdma": "mlx5_0", "ports": ["rail0"]}]}])


def test_a_device_without_rdma_has_no_name_and_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roce_io, "ROOT", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    (tmp_path / "sys/kernel/config/rdma_cm").mkdir(parents=True)
    found = RdmaDevices(Command(30), WANT).read()
    assert (found.cm, found.devices["rail0"].rdma, found.devices["rail0"].settings) == (True, "", {})


def test_a_directory_that_the_kernel_refuses_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roce_io, "ROOT", str(tmp_path))
    (tmp_path / "sys/kernel/config/rdma_cm").mkdir(parents=True)
    (tmp_path / "sys/class/net/rail0/device/infiniband/mlx5_0").mkdir(parents=True)
    with pytest.raises(DeviceError, match="default_roce_mode can't be read"):
        RdmaDevices(Command(30), WANT).read()
    assert list((tmp_path / "sys/kernel/config/rdma_cm").iterdir()) == [], "what a look makes, it removes"
