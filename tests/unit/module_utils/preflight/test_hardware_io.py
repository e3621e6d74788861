# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import lldp_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import hardware_io, work_io

from lab.emulators.nodes.lldpctl import neighbours
from tests.unit.module_utils.preflight_site import WANT


class Tools:
    """Tools with these outputs; others fail."""

    def __init__(self, **outputs: str) -> None:
        self.outputs = {name.replace("_", "-"): text for name, text in outputs.items()}

    def __call__(self, argv: Any, ok: Any = (0,)) -> Completed:
        if argv[0].replace("_", "-") not in self.outputs:
            raise DeviceError(f"{argv[0]} failed")
        return Completed(0, self.outputs[argv[0].replace("_", "-")], "")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware_io, "tool", lambda name: name)
    monkeypatch.setattr(work_io, "tool", lambda name: name)
    monkeypatch.setattr(lldp_io, "tool", lambda name: name)


def test_drivers_of_all_gpus_are_one_list() -> None:
    found = hardware_io.gpus(WANT, Tools(nvidia_smi="570.1\n570.1\n", systemctl="active\n"))
    assert (found["drivers"], found["error"], found["manager"]) == (["570.1"], "", "active")


def test_a_driver_that_fails_is_an_error() -> None:
    found = hardware_io.gpus(WANT, Tools())
    assert (found["drivers"], found["error"], found["manager"]) == ([], "nvidia-smi failed", "")


def test_bridges_are_read_on_gpu_nodes_alone() -> None:
    listed = Tools(lspci="17:00.0 PCI bridge: x\n\tACSCtl:\tReqRedir+\n")
    assert hardware_io.pci(WANT, listed)["acs"] == ["17:00.0"]
    assert hardware_io.pci({**WANT, "gpus": 0}, listed)["acs"] == []


def test_devices_that_do_not_exist_are_missing() -> None:
    found = hardware_io.nics({**WANT, "netdevs": ["lo", "rail9"], "rdma": ["mlx5_9"]}, Tools(mlnx_qos="no report"))
    assert (found["missing"], found["rdma_missing"]) == (["rail9"], ["mlx5_9"])
    assert found["mlnx_qos"] == "mlnx_qos -i lo prints no trust state"


def test_a_tool_that_reads_a_port_has_no_error() -> None:
    printed = json.dumps(neighbours({"lo": ["leaf1", "Ethernet1"]}))
    tools = Tools(mlnx_qos="Priority trust state: dscp\n", lldpctl=printed)
    found = hardware_io.nics({**WANT, "netdevs": ["lo"]}, tools)
    assert (found["mlnx_qos"], found["lldp"]) == ("", {"lo": ["leaf1", "Ethernet1"]})
    assert hardware_io.nics({**WANT, "netdevs": ["lo"]}, Tools())["mlnx_qos"] == "mlnx_qos failed"
    other = Tools(dcb='{"pfc_cap":8,"prio_pfc":[false]}')
    assert hardware_io.nics({**WANT, "netdevs": ["lo"]}, other)["mlnx_qos"] == "", "dcb is enough"
