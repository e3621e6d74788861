# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The backends on the emulated tools; test_mlnx_qos.py runs the module with each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Command
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.backends_io import (
    Unsupported,
    backends,
    driver,
    read,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.plan import NicPortQos

from tests.unit.library.emulated import Host, drive, with_rails

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


def test_mlnx_qos_is_the_first_choice_and_both_read_the_same(host: Host) -> None:
    found = backends(Command(60))
    assert list(found) == ["mlnx_qos", "dcb"]
    ports = [it.read("rail0", WANT, True) for it in found.values()]
    assert ports[0] == ports[1]


def test_a_host_without_a_tool_is_told_both() -> None:
    def none(name: str) -> str:
        raise DeviceError(f"{name} is not installed on this host")

    with pytest.raises(DeviceError, match="neither mlnx_qos nor dcb"):
        read(backends(Command(60), none), "rail0", WANT)


@pytest.mark.parametrize("name", ["mlnx_qos", "dcb"])
def test_a_driver_without_dcb_is_named(host: Host, name: str) -> None:
    (host.root / "sys/class/net/eth0").mkdir()
    with pytest.raises(Unsupported, match="interfaces has eth0, but its driver has no DCB"):
        backends(Command(60))[name].read("eth0", WANT, True)


def test_lldpad_would_overwrite_what_dcb_sets(host: Host) -> None:
    (host.bin / "pgrep").write_text("#!/bin/sh\necho 7\n")
    with pytest.raises(DeviceError, match="rail0: lldpad runs on the host"):
        backends(Command(60))["dcb"].read("rail0", WANT, True)


@pytest.mark.parametrize("driver", ["mlx5_core", "ice"])
def test_firmware_that_controls_dcbx_is_seen(host: Host, monkeypatch: Any, driver: str) -> None:
    host.install("ethtool")
    drive(host, monkeypatch, driver, "rail0")
    dcb = backends(Command(60))["dcb"]
    dcb.read("rail0", WANT, True)
    with host.device("mlnx_qos").state() as state:
        state["ports"]["rail0"]["dcbx"] = "fw"
    assert dcb.read("rail0", WANT, True).dcbx == "fw"
    dcb.write("rail0", ("-d", "os"), WANT)
    assert dcb.read("rail0", WANT, True).dcbx == "os"


def test_ice_gets_another_priority_only_after_the_old_entry_has_gone(host: Host, monkeypatch: Any) -> None:
    host.install("ethtool")
    drive(host, monkeypatch, "ice", "rail0")
    dcb = backends(Command(60))["dcb"]
    dcb.write("rail0", ("-d", "os"), WANT)
    dcb.write("rail0", ("--dscp2prio", "set,26,2"), WANT)
    dcb.write("rail0", ("--dscp2prio", "set,10,6"), WANT)
    dcb.write("rail0", ("--dscp2prio", "set,26,3"), WANT)
    assert dcb.read("rail0", WANT, True).dscp_priority == {26: 3}
    assert [call["argv"][1] for call in host.device("mlnx_qos").calls() if call["writes"]] == [
        *("replace", "replace", "replace", "del", "add")
    ]


def test_the_name_of_a_driver_is_that_of_sysfs(host: Host, monkeypatch: Any) -> None:
    drive(host, monkeypatch, "ice", "rail0")
    assert [driver(it) for it in ("rail0", "rail1", "nosuch0")] == ["ice", "", ""]
