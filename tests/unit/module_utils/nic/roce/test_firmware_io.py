# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The reader and writer on the emulated tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import firmware_io

from tests.unit.library.emulated import Host

PCI = "0000:18:00.0"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = Host(tmp_path, "gpu01", monkeypatch, capfd)
    for name, value in host.environment.items():
        monkeypatch.setenv(name, value)
    return host


def with_tool(host: Host, **further: Any) -> None:
    host.install("mlxconfig")
    with host.device("mlxconfig").state({"devices": {PCI: {"SRIOV_EN": ["False(0)", "True(1)", "True(1)"]}}}) as state:
        state.update(further)


def test_without_the_tool_the_error_names_the_package_to_install(host: Host) -> None:
    with pytest.raises(DeviceError, match="neither mlxconfig nor mstconfig; install mstflint"):
        firmware_io.read(Command(60), PCI)


def test_what_the_tool_could_read_counts_although_it_failed(host: Host) -> None:
    with_tool(host, failing=[PCI])
    assert firmware_io.read(Command(60), PCI) == {"SRIOV_EN": ("1", "1")}


def test_a_device_that_does_not_open_is_an_error(host: Host) -> None:
    with_tool(host)
    with pytest.raises(DeviceError, match=r"mlxconfig -d 0000:99:00\.0 failed: -E- Failed to open the device"):
        firmware_io.read(Command(60), "0000:99:00.0")
