# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts with RDMA devices, cables and a lossless class, which share one fabric."""

from __future__ import annotations

import json
import socket

import pytest

from lab.emulators.nic.driver import factory
from tests.lab.emulators.conftest import Host


def rdma(host, number, *, rails=8):
    """Give a host its rails: on leaf1, from port 8 * number + 1 on, with DSCP 26 in priority 3, which is lossless."""
    sys, cables = host.directory / "sys", {}
    dscp = [3 if at == 26 else at >> 3 for at in range(64)]
    port = {**factory(), "driver": "mlx5_core", "apps": [[26, 3]], "dscp2prio": dscp, "pfc": [0, 0, 0, 1, 0, 0, 0, 0]}
    for rail in range(rails):
        device = sys / f"class/infiniband/mlx5_{rail}"
        for name, text in {
            f"device/net/rail{rail}/x": "",
            "ports/1/gids/3": f"0000:0000:0000:0000:0000:ffff:0a4e:{rail:02x}{number:02x}",
            "ports/1/hw_counters/np_cnp_sent": "0\n",
            "ports/1/hw_counters/out_of_sequence": "0\n",
        }.items():
            (device / name).parent.mkdir(parents=True, exist_ok=True)
            (device / name).write_text(text)
        (sys / f"class/net/rail{rail}/mtu").write_text("9000\n")
        (sys / f"class/net/rail{rail}/operstate").write_text("up\n")
        (host.directory / f"dev/nvidia{rail}").touch()
        cables[f"rail{rail}"] = ["leaf1", f"Ethernet{8 * number + rail + 1}"]
    (host.directory / "cables.json").write_text(json.dumps(cables))
    host.environment["LAB_CABLES"] = str(host.directory / "cables.json")
    boot = (host.directory / "proc/sys/kernel/random/boot_id").read_text().strip()
    with host.device("mlnx_qos").state() as state:
        state.update(version="25.7", boot_id=boot, ports={f"rail{rail}": port for rail in range(rails)})
    return host


@pytest.fixture
def hosts(tmp_path):
    """Three GPU nodes on one leaf."""
    return [rdma(Host(tmp_path, f"gpu0{number + 1}"), number) for number in range(3)]


@pytest.fixture
def free_port():
    """A TCP port that no process uses."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        return probe.getsockname()[1]
