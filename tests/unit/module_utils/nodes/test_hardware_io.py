# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import hardware_io, lldp_io

from lab.machine.hardware import Hardware
from lab.machine.trees import gpus, processors, rails
from tests.unit.module_utils.answers import Answers
from tests.unit.module_utils.nodes.gpus import kfd

WITHOUT_LLDP = {name: DeviceError(f"{name} failed") for name in ("lldpctl", "networkctl")}
SMI = {
    "nvidia-smi --query-gpu": "00000000:1B:00.0, NVIDIA H100 80GB HBM3\n",
    "nvidia-smi --list-gpus": "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)\n",
}
TOOLS = Answers({**SMI, **WITHOUT_LLDP})


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> hardware_io.Host:
    """The lab's machine as a tree of files, without LLDP."""
    monkeypatch.setattr(hardware_io, "tool", lambda name: name)
    monkeypatch.setattr(lldp_io, "tool", lambda name: name)
    machine = Hardware(2, 32, 2, 2113929216, 2, "h100", (0, 0, 0, 0, 1, 1, 1, 1), (0, 0, 0, 0, 1, 1, 1, 1), ())
    files, links = rails(machine)
    for path, content in {**processors(machine), **gpus(machine), **files}.items():
        place = tmp_path / path.replace("bind/", "", 1).replace("layer/", "", 1)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(str(content))
    for path, to in links.items():
        place = tmp_path / path.replace("layer/", "", 1)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(to)
    (tmp_path / "sys/class/net").mkdir(parents=True)
    for rail in range(8):
        (tmp_path / f"sys/class/net/rail{rail}").symlink_to(f"../../devices/virtual/net/rail{rail}")
    gpu = tmp_path / "sys/bus/pci/devices/0000:1b:00.0"
    gpu.mkdir(parents=True)
    for name, value in {"vendor": "0x10de", "class": "0x030200", "numa_node": "1"}.items():
        (gpu / name).write_text(f"{value}\n")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").write_text("ID=debian\nVERSION_ID=13\n")
    (tmp_path / "proc/mounts").write_text("")
    return hardware_io.Host(TOOLS, str(tmp_path))


def test_instances_are_read_where_the_driver_lists_some(tmp_path: Path, host: hardware_io.Host) -> None:
    listing = "nvidia-smi --list-gpus"
    divided = f"{SMI[listing]}  MIG 3g.40gb     Device  0: (UUID: MIG-1)\n"
    (gpu,) = hardware_io.Host(Answers({**TOOLS.table, listing: divided}), str(tmp_path)).read()["gpus"]
    assert gpu["instances"] == {"3g.40gb": 1}
    (gpu,) = host.read()["gpus"]
    assert "instances" not in gpu
    found = hardware_io.Host(Answers({**TOOLS.table, listing: "Half a GPU\n"}), str(tmp_path)).read()
    assert "instances of GPUs: Half a GPU" in found["missing"]


def test_the_machine_is_read(host: hardware_io.Host) -> None:
    found = host.read()
    assert found["os"] == "debian-13"
    assert found["cpus"] == {
        "sockets": 2,
        "cores_per_socket": 32,
        "threads_per_core": 2,
        "numa_nodes": 2,
        "numa_without_cpus": "",
        "numa_without_memory": "",
        "l3_caches": 0,
        "cpu_numbering": "together",
    }
    assert found["memory_mib"] == 2064384
    gpu = {"pci": "0000:1b:00.0", "name": "NVIDIA H100 80GB HBM3", "vendor": "nvidia", "numa": 1}
    assert found["gpus"] == [{**gpu, "minor": 0}]


def test_without_the_drivers_file_a_gpu_has_no_known_device_file(host: hardware_io.Host, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "proc/driver")
    assert [gpu["minor"] for gpu in host.read()["gpus"]] == [-1]


STATIC = [{"gpu": 0, "asic": {"market_name": "AMD Instinct MI300X"}, "bus": {"bdf": "0000:05:00.0"}}]


def test_gpus_of_the_kernels_list_have_its_order_and_their_tools_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hardware_io, "tool", lambda name: name)
    monkeypatch.setattr(lldp_io, "tool", lambda name: name)
    tools = Answers({"amd-smi": json.dumps(STATIC), **WITHOUT_LLDP})
    found = hardware_io.Host(tools, str(kfd.host(tmp_path))).read()["gpus"]
    assert [gpu["minor"] for gpu in found] == list(kfd.MINORS)
    assert [gpu["numa"] for gpu in found] == [0, 0, 0, 0, 1, 1, 1, 1]
    first = {"pci": "0000:05:00.0", "name": "AMD Instinct MI300X", "vendor": "amd", "numa": 0, "minor": 128}
    assert (found[0], found[1]["name"]) == (first, "")
    without = hardware_io.Host(Answers({"amd-smi": DeviceError("amd-smi failed"), **WITHOUT_LLDP}), str(tmp_path))
    assert [gpu["minor"] for gpu in without.read()["gpus"]] == list(kfd.MINORS)
    assert "names of GPUs: amd-smi failed" in without.missing
    (tmp_path / "sys/class/kfd/kfd").rename(tmp_path / "lost")
    assert [(gpu["pci"], gpu["minor"]) for gpu in without.read()["gpus"]][:1] == [("0000:05:00.0", -1)], "no driver"


def test_ports_are_in_rail_order(host: hardware_io.Host) -> None:
    nics = host.read()["nics"]
    assert [(nic["netdev"], nic["rdma"]) for nic in nics] == [(f"rail{n}", f"mlx5_{n}") for n in range(8)]
    assert [nic["numa"] for nic in nics] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert (nics[0]["pci"], nics[0]["device"]) == ("0000:18:00.0", "15b3:1021")


def test_missing_tools_are_named_and_stop_nothing(host: hardware_io.Host) -> None:
    assert host.read()["missing"] == ["LLDP neighbours: lldpctl failed; networkctl failed"]


def test_a_lost_tree_stops_nothing(host: hardware_io.Host, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "sys/devices/system")
    found = host.read()
    assert found["cpus"] == {}
    assert len(found["nics"]) == 8
    assert any(reason.startswith("CPUs: ") for reason in found["missing"])
