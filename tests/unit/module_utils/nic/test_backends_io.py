# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The backends on the emulated tools; test_mlnx_qos.py runs the module with each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import backends_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import NicPortQos

from tests.unit.library.emulated import Host, with_rails

WANT = NicPortQos("dscp", {26: 3}, frozenset({3}))


@pytest.fixture
def host(tmp_path: Path, monkeypatch: Any, capfd: Any) -> Host:
    host = with_rails(tmp_path, monkeypatch, capfd)
    host.install("dcb")
    (host.bin / "pgrep").write_text("#!/bin/sh\nexit 1\n")
    (host.bin / "pgrep").chmod(0o755)
    for name, value in host.environment.items():
        monkeypatch.setenv(name, value)
    return host


def test_without_a_tool_the_error_names_both() -> None:
    def none(name: str) -> str:
        raise DeviceError(f"{name} is not installed on this host")

    with pytest.raises(DeviceError, match="neither mlnx_qos nor dcb"):
        backends_io.read(backends_io.backends(Command(60), none), "rail0", WANT)


def test_lldpad_would_overwrite_what_dcb_sets(host: Host) -> None:
    (host.bin / "pgrep").write_text("#!/bin/sh\necho 7\n")
    with pytest.raises(DeviceError, match="rail0: lldpad runs on the host"):
        backends_io.backends(Command(60))["dcb"].read("rail0", WANT, True)
