# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module on the lab's tree of two rails, with the emulated tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.state import io as state_io

from tests.unit.library.emulated import writes
from tests.unit.library.test_nic_roce import NAMES, Machine, machine

DEVICES = [{"netdev": name, "ports": [name]} for name in NAMES]
__all__ = ["machine"]


@pytest.fixture
def node(machine: Machine, monkeypatch: Any) -> Machine:
    machine.host.install("mlnx_qos", "ethtool", "setpci")
    monkeypatch.setattr(state_io, "ROOT", str(machine.root))
    machine.host.environment["LAB_SYSFS"] = str(machine.root / "sys")
    for name in NAMES:
        device = machine.root / "sys/devices/virtual/net" / name
        for entry, text in {"operstate": "up", "mtu": "9000", "carrier_changes": "4"}.items():
            (device / entry).write_text(f"{text}\n")
    return machine


def read(node: Machine, devices: Any = DEVICES) -> dict[str, Any]:
    result = node.host.run("nic_state", devices=devices, timeout_s=5)
    assert (result["changed"], result["steps"]) == (False, [])
    return result["nics"]


def counter(node: Machine, name: str) -> Path:
    return node.root / "sys/class/infiniband/mlx5_1/ports/1/hw_counters" / name


def test_settings_and_counters_of_every_nic_in_one_call(node: Machine) -> None:
    counter(node, "np_cnp_sent").write_text("12\n")
    read(node)  # the emulated port's first counters
    with node.host.device("ethtool").state() as state:
        state["ports"]["rail1"]["stats"]["rx_prio3_pause"] = 7
    first, second = read(node).values()
    assert first["unknown"] == second["unknown"] == []
    assert (second["rdma"], second["gid"], second["state"]) == ("mlx5_1", 3, "4: ACTIVE")
    assert (first["counters"]["np_cnp_sent"], second["counters"]["np_cnp_sent"]) == (0, 12)
    assert second["counters"]["link_downed"] == 0 and "lifespan" not in second["counters"]
    assert second["roce"]["rdma_cm"]["default_roce_tos"] == "0"
    assert second["roce"]["rail1"]["cnp_dscp"] == "4"
    port = second["ports"]["rail1"]
    assert (port["up"], port["mtu_bytes"], port["carrier_changes"], port["temperature_c"]) == (True, 9000, 4, 61.0)
    qos = port["qos"]
    assert (qos["dcbx"], qos["trust"], qos["dscp_priority"], qos["lossless"]) == ("os", "pcp", {}, [])
    assert qos["backend"] == "mlnx_qos"
    assert (qos["queues"][0], qos["cable_m"]) == ({"tc": 1, "algorithm": "vendor", "percent": 0}, 7)
    assert (port["priorities"]["3"]["rx_pause"], port["counters"]["rx_discards_phy"]) == (7, 0)
    assert port["global_pause"] == {"rx": True, "tx": True}
    assert (port["rings"], port["pcie"]["read_request_bytes"]) == ({"rx": 1024, "tx": 1024}, 512)
    assert (port["pcie"]["relaxed_ordering"], port["numa_node"], port["interrupt_cpus"]) == ("enabled", "1", "0-7")


def test_it_only_reads(node: Machine) -> None:
    read(node)
    assert node.kernel.written == []
    assert [writes(node.host.device(name)) for name in ("mlnx_qos", "ethtool", "pciutils")] == [[]] * 3


def test_a_part_that_cant_be_read_is_absent_with_its_reason(node: Machine) -> None:
    node.host.arm("ethtool", "ethtool", "hang", "-S rail1")
    node.host.arm("mlnx_qos", "mlnx_qos", "refuse", "rail1")
    nic = read(node)["rail1"]
    port = nic["ports"]["rail1"]
    assert "qos" not in port and "priorities" not in port and "global_pause" in port
    assert nic["unknown"][0] == "rail1: mlnx_qos printed no DCBX mode"
    assert nic["unknown"][1].startswith("ethtool gave no answer")


def test_a_missing_nic_is_unknown_and_the_others_are_read(node: Machine) -> None:
    nics = read(node, [{"netdev": "rail9", "ports": ["rail9"]}, DEVICES[0]])
    assert nics["rail9"] == {"unknown": ["this host has no rail9"]}
    assert nics["rail0"]["rdma"] == "mlx5_0"
