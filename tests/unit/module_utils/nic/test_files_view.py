# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.files_view import (
    device_files,
    escaped,
    link_files,
)

from tests.unit.module_utils.nic.test_view import mixed


def test_a_node_without_nics_needs_no_files() -> None:
    assert (link_files(mixed(), "cpu01"), device_files(mixed(), "cpu01")) == ({}, {})


def test_ports_get_their_names_by_pci_address() -> None:
    assert link_files(mixed(), "gpu01") == {
        "/etc/systemd/network/10-drawbridge-ens1f0.link": "[Match]\nPath=pci-a\n\n[Link]\nName=ens1f0\n",
        "/etc/systemd/network/10-drawbridge-ens1f1.link": "[Match]\nPath=pci-b\n\n[Link]\nName=ens1f1\n",
    }


def test_the_device_of_each_port_wants_a_service_of_its_own() -> None:
    found = device_files(mixed(), "gpu01")
    assert len(found) == 10
    place = "/etc/systemd/system/sys-subsystem-net-devices-ens1f0.device.d/50-drawbridge-nic.conf"
    assert found[place].endswith("[Unit]\nWants=drawbridge-nic@ens1f0.service\n")


def test_a_dash_separates_folders_in_names_of_units() -> None:
    """As `systemd-escape` prints them."""
    assert [escaped(name) for name in ("rail0", "rail-0", "bond0.7", ".7")] == [
        "rail0",
        r"rail\x2d0",
        "bond0.7",
        r"\x2e7",
    ]
