# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import lldp_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.preflight import hardware_io, work_io

from lab.emulators.nodes.lldpctl import neighbours
from tests.unit.module_utils.nodes.gpus import kfd
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


AMD = {**WANT, "gpu_vendor": "amd"}


@pytest.fixture
def mi300x(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(hardware_io, "ROOT", str(tmp_path))
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text("6.12.48\n")
    return kfd.host(tmp_path)


def test_a_driver_without_a_tool_is_read_from_files(mi300x: Path) -> None:
    found = hardware_io.gpus(AMD, Tools())
    assert (found["files"], found["drivers"], found["error"]) == (8, ["kernel-6.12.48"], "")
    assert (found["switches"], found["peermem"], found["manager"], found["foreign"]) == (False, False, "", {})
    (mi300x / "sys/module/amdgpu/version").write_text("6.16.6\n")
    (mi300x / "dev/dri/renderD128").unlink()
    found = hardware_io.gpus(AMD, Tools())
    assert (found["files"], found["drivers"]) == (7, ["6.16.6"])


def test_a_driver_that_is_not_live_does_not_answer(mi300x: Path) -> None:
    (mi300x / "sys/module/amdgpu/initstate").unlink()
    found = hardware_io.gpus(AMD, Tools())
    error = "/sys/module/amdgpu/initstate says nothing instead of live"
    assert (found["drivers"], found["error"]) == ([], error)


@pytest.mark.parametrize(
    "place", ["usr/lib64/slurm", "usr/lib/x86_64-linux-gnu/slurm-wlm", "usr/lib/x86_64-linux-gnu/slurm"]
)
def test_gpus_and_slurms_plugins_of_other_vendors_are_found(mi300x: Path, place: str) -> None:
    (mi300x / place).mkdir(parents=True)
    for name in ("gpu_rsmi.so", "gpu_nvml.so", "gpu_generic.so"):
        (mi300x / place / name).touch()
    found = hardware_io.gpus(WANT, Tools())
    assert (found["foreign"], found["plugins"]) == ({"amd": 8}, [f"{mi300x}/{place}/gpu_rsmi.so"])
    assert hardware_io.gpus(AMD, Tools())["plugins"] == [f"{mi300x}/{place}/gpu_nvml.so"]


def test_what_instances_need_is_missed_where_a_class_has_instances(
    mi300x: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise DeviceError(f"{name} is not installed on this host")

    monkeypatch.setattr(hardware_io, "tool", missing)
    divided = {**WANT, "divided": True, "detects": True}
    assert hardware_io.gpus(divided, Tools())["lacking"] == [
        "nvidia-mig-parted (NVIDIA's package nvidia-mig-manager, whose unit Drawbridge keeps off)",
        "Slurm's plugin gpu_nvml.so",
    ]
    assert hardware_io.gpus(WANT, Tools())["lacking"] == []
    monkeypatch.setattr(hardware_io, "tool", lambda name: name)
    (mi300x / "opt/slurm/lib/slurm").mkdir(parents=True)
    (mi300x / "opt/slurm/lib/slurm/gpu_nvml.so").touch()
    assert hardware_io.gpus(divided, Tools())["lacking"] == []


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
