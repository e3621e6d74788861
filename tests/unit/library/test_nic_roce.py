# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module on the lab's tree of two rails, whose kernel refuses and lies on request."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import io as roce_io

from lab.emulators.nic.kernel import Kernel
from lab.machine.hardware import Hardware
from lab.machine.trees import pci_address, rails
from tests.unit.library.emulated import Host, converged, writes
from tests.unit.library.ways import ALONE, VISIT, meet_faults

NAMES = ["rail0", "rail1"]
GROUP = {
    "devices": [{"netdev": name, "rdma": f"mlx5_{at}", "ports": [name]} for at, name in enumerate(NAMES)],
    **{"tos": 106, "cnp_dscp": 48, "cnp_priority": 6, "ecn_priorities": [3], "needs_gid": True},
}
ARGS = {"groups": [GROUP], "timeout_s": 120}
TOS = [f"{name}: set default_roce_tos to 106, not 0" for name in NAMES]
DSCP = [f"{name}: set CNP DSCP to 48, not 4" for name in NAMES]
STEPS = [step for pair in zip(TOS, DSCP) for step in pair]
NP, RP = ("notification point", "roce_np"), ("reaction point", "roce_rp")


class Machine:
    """A host with its trees and its kernel."""

    def __init__(self, host: Host, root: Path) -> None:
        self.host, self.root, self.kernel = host, root, Kernel()
        files, links = rails(Hardware(2, 4, 1, 1 << 20, 2, rail_numa=(0, 1)))
        for name, text in files.items():
            places = {"fresh/irq": "proc/irq", "fresh/": "sys/kernel/", "layer/": "", "bind/": ""}
            path = root / next(name.replace(it, to, 1) for it, to in places.items() if name.startswith(it))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name, to in links.items():
            path = root / name.replace("layer/", "", 1)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(to)
        (root / "sys/class/net").mkdir(parents=True)
        for name in NAMES:
            (root / "sys/class/net" / name).symlink_to(f"../../devices/virtual/net/{name}")

    def run(self, check: bool = False, **changes: Any) -> dict[str, Any]:
        return self.host.run("nic_roce", check=check, **{**ARGS, "groups": [{**GROUP, **changes}]})

    def debug(self, at: int) -> Path:
        return self.root / f"sys/kernel/debug/mlx5/{pci_address(at)}/cc_params"

    def without_debugfs(self) -> None:
        shutil.rmtree(self.root / "sys/kernel/debug/mlx5")

    def with_ofed(self) -> None:
        """OFED's files, with congestion control switched off on rail1 alone."""
        for at, name in enumerate(NAMES):
            files = {"roce_np/cnp_dscp": 4, "roce_np/cnp_802p_prio": 6}
            files |= {"roce_np/min_time_between_cnps": 4, "roce_rp/rpg_ai_rate": 5}
            files |= {f"{point}/enable/{priority}": 1 - at for _, point in (NP, RP) for priority in range(8)}
            for entry, value in files.items():
                path = self.root / "sys/class/net" / name / "ecn" / entry
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(f"{value}\n")


@pytest.fixture(params=[ALONE, VISIT])
def machine(request: Any, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Machine:
    host = Host(tmp_path, "gpu01", monkeypatch, capfd)
    host.way = request.param
    found = Machine(host, tmp_path / "root")
    monkeypatch.setattr(roce_io, "ROOT", str(found.root))
    monkeypatch.setattr(roce_io, "write", found.kernel.write)
    return found


def test_check_predicts_the_run_and_the_second_run_only_reads(machine: Machine) -> None:
    assert converged(machine.run, lambda: list(machine.kernel.written))["steps"] == STEPS
    assert (machine.debug(1) / "np_cnp_dscp").read_text() == "48\n"
    assert len(machine.kernel.written) == 4


def test_ofed_has_a_switch_for_each_priority_that_must_not_be_set_twice(machine: Machine) -> None:
    machine.with_ofed()
    done = machine.run()
    on = [f"rail1: set {point} of priority 3 to 1, not 0" for point, _ in (NP, RP)]
    assert not done.get("failed") and done["steps"] == [*STEPS, *on]
    assert machine.run()["steps"] == []
    assert (machine.debug(0) / "np_cnp_dscp").read_text() == "4\n", "OFED's files are the first choice"


def test_a_priority_that_is_not_in_effect_is_written(machine: Machine) -> None:
    (machine.debug(0) / "np_cnp_prio_mode").write_text("1\n")
    assert "rail0: set CNP priority to 6, not unknown" in machine.run()["steps"]
    assert (machine.debug(0) / "np_cnp_prio_mode").read_text() == "0\n"


@pytest.mark.parametrize(("effect", "message"), [("refuse", "did not take 48: Invalid argument"), ("lie", DSCP[1])])
def test_faults(machine: Machine, effect: str, message: str) -> None:
    machine.kernel.faults[f"{pci_address(1)}/cc_params/np_cnp_dscp"] = effect
    result = machine.run()
    assert result["failed"] and result["changed"] and message in result["msg"]
    assert result["left"] == DSCP[1:]
    machine.kernel.faults.clear()
    assert machine.run()["steps"] == DSCP[1:]


def test_a_renamed_device_is_named_and_nothing_is_written(machine: Machine) -> None:
    base = machine.root / f"sys/devices/pci{pci_address(1)[:7]}/{pci_address(1)}/infiniband"
    (base / "mlx5_1").rename(base / "rocep40s0")
    renamed = machine.root / "sys/class/infiniband/mlx5_1"
    renamed.unlink()
    (renamed.parent / "rocep40s0").symlink_to(base / "rocep40s0")
    (machine.root / "sys/kernel/config/rdma_cm/mlx5_1").rename(machine.root / "sys/kernel/config/rdma_cm/rocep40s0")
    refused = machine.run()
    assert "nics.rdma has mlx5_1, but the RDMA device of rail1 is rocep40s0" in refused["msg"]
    assert machine.kernel.written == []


def test_a_rail_without_an_ipv4_address_is_pending_and_no_failure(machine: Machine) -> None:
    for path in machine.root.glob("sys/class/infiniband/mlx5_1/ports/1/gids/*"):
        path.write_text("fe80:0000:0000:0000:a4f7:42ff:fea9:8917\n")
    done = machine.run()
    assert not done.get("failed")
    assert [text.rpartition(": ")[2] for text in done["pending"]] == ["give rail1 an IPv4 address"]
    assert machine.run(needs_gid=False)["pending"] == []


def test_without_a_path_the_firmware_is_compared(machine: Machine) -> None:
    machine.without_debugfs()
    assert "neither ecn nor cc_params, and its firmware says nothing" in machine.run()["msg"]
    machine.host.install("mlxconfig")
    firmware = {"CNP_DSCP_P1": ("48", "48", "48"), "CNP_802P_PRIO_P1": ("6", "6", "6")}
    device = machine.host.device("mlxconfig")
    with device.state({"devices": {}}) as state:
        state["devices"] = {pci_address(at): dict(firmware) for at in range(2)}
    assert machine.run()["steps"] == TOS
    with device.state() as state:
        state["devices"][pci_address(1)]["CNP_DSCP_P1"] = ("48", "4", "48")
    refused = machine.run()["msg"]
    assert f"run mlxconfig -d {pci_address(1)} set CNP_DSCP_P1=48 and boot the node" in refused


def test_rdma_cm_is_loaded_where_nothing_has_loaded_it(machine: Machine) -> None:
    config = machine.root / "sys/kernel/config/rdma_cm"
    config.rename(config.parent / "unloaded")
    machine.host.program("modprobe", f'[ "$*" = rdma_cm ] && mv {config.parent}/unloaded {config}')
    done = machine.run()
    assert done["steps"][0] == "load the module rdma_cm" and not done.get("failed")
    assert machine.run()["steps"] == []


FIRMWARE = [{"ports": NAMES, "parameters": ["SRIOV_EN=0", "ATS_ENABLED=0"]}]
CHANGE = "set SRIOV_EN=0 in its firmware"
EFFECT = "put SRIOV_EN=0 into effect: boot the node when it is drained"


@pytest.fixture
def flashed(machine: Machine) -> Machine:
    """Marks are right, and SR-IOV is on in the firmware of rail1."""
    machine.host.install("mlxconfig")
    values = {"SRIOV_EN": ["True(1)", "False(0)", "False(0)"], "ATS_ENABLED": ["False(0)"] * 3}
    with machine.host.device("mlxconfig").state({"devices": {}}) as state:
        state["devices"] = {pci_address(at): {**values} for at in range(2)}
        state["devices"][pci_address(1)]["SRIOV_EN"] = ["True(1)"] * 3
    machine.run()
    return machine


def firmware(machine: Machine, allowed: bool = True, check: bool = False) -> dict[str, Any]:
    names = {"may_set_firmware": "site_may_set_firmware"}
    return machine.host.run(
        "nic_roce", check=check, **ARGS, firmware=FIRMWARE, may_set_firmware=allowed, variables=names
    )


def test_firmware_is_compared_always_and_set_by_consent_alone(flashed: Machine) -> None:
    tool = flashed.host.device("mlxconfig")
    kept = firmware(flashed, allowed=False)
    assert not kept.get("failed") and kept["steps"] == []
    assert kept["pending"] == [f"rail1: {CHANGE}: add site_may_set_firmware: true", f"rail1: {EFFECT}"]
    assert writes(tool) == []


def test_a_new_value_waits_for_a_boot_and_starts_none(flashed: Machine) -> None:
    tool = flashed.host.device("mlxconfig")
    done = converged(lambda check=False: firmware(flashed, check=check), lambda: writes(tool))
    assert (done["steps"], done["pending"]) == ([f"rail1: {CHANGE}"], [f"rail1: {EFFECT}"])
    assert firmware(flashed)["pending"] == [f"rail1: {EFFECT}"]
    assert len(writes(tool)) == 1
    (flashed.host.root / "proc/sys/kernel/random/boot_id").write_text("another")
    assert firmware(flashed)["pending"] == []


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        ("refuse", "Failed to set configuration: Operation not permitted"),
        ("lie", f"not in effect: rail1: {CHANGE}"),
        ("hang", "mlxconfig gave no answer within"),
        ("drift", f"not in effect: rail1: {CHANGE}"),
    ],
)
@meet_faults("machine")
def test_faults_of_firmware(flashed: Machine, effect: str, message: str) -> None:
    flashed.host.arm("mlxconfig", "mlxconfig", effect, "set SRIOV_EN")
    result = firmware(flashed)
    assert result["failed"] and message in f"{result['msg']}{result.get('stdout', '')}"
    assert result["left"] == [f"rail1: {CHANGE}"] == firmware(flashed)["steps"]


def test_a_parameter_that_the_firmware_lacks_is_named_and_stops_nothing(flashed: Machine) -> None:
    with flashed.host.device("mlxconfig").state() as state:
        del state["devices"][pci_address(0)]["ATS_ENABLED"]
    done = firmware(flashed)
    assert done["pending"][0].startswith("rail0: set ATS_ENABLED=0: its firmware has no ATS_ENABLED")
    assert done["steps"] == [f"rail1: {CHANGE}"]


def test_what_nccl_lacks_on_the_host_is_pending(machine: Machine) -> None:
    def run() -> list[str]:
        done = machine.host.run("nic_roce", **ARGS, gpu_direct=True, topology_file="/opt/topo.xml")
        assert not done.get("failed")
        return [text.partition(": ")[0] for text in done["pending"]]

    driver = machine.root / "proc/driver/nvidia/version"
    driver.parent.mkdir(parents=True)
    driver.write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06\n")
    assert run() == ["let NICs reach GPU memory", "have NCCL's topology file /opt/topo.xml"]


def test_congestion_control_is_off_where_ofed_has_a_switch(machine: Machine) -> None:
    machine.with_ofed()
    off = [f"rail0: set {point} of priority 3 to 0, not 1" for point, _ in (NP, RP)]
    assert [step for step in machine.run(ecn_enabled=False)["steps"] if "point" in step] == off
    assert machine.run(ecn_enabled=False)["steps"] == []


RATES = [{"name": "rpg_ai_rate", "value": 10}, {"name": "min_time_between_cnps", "value": 4}]
FASTER = [f"{name}: set rpg_ai_rate to 10, not 5" for name in NAMES]


@pytest.mark.parametrize("path", ["cc_params", "ecn"])
def test_parameters_of_dcqcn_are_set_where_they_differ(machine: Machine, path: str) -> None:
    if path == "ecn":
        machine.with_ofed()
    machine.run()
    predicted = machine.run(check=True, rates=RATES)
    assert (predicted["steps"], machine.run(rates=RATES)["steps"]) == (FASTER, FASTER)
    assert {written.rsplit("/", 1)[1] for written, _value in machine.kernel.written[-2:]} == {
        {"cc_params": "rp_ai_rate", "ecn": "rpg_ai_rate"}[path]
    }
    assert machine.run(rates=RATES)["steps"] == []
    machine.kernel.faults["ai_rate"] = "refuse"
    assert "rpg_ai_rate to 20, not 10" in machine.run(rates=[{"name": "rpg_ai_rate", "value": 20}])["left"][0]


def test_without_a_path_parameters_of_dcqcn_are_those_of_the_firmware(machine: Machine) -> None:
    machine.without_debugfs()
    machine.host.install("mlxconfig")
    values = {"CNP_DSCP_P1": "48", "CNP_802P_PRIO_P1": "6", "RPG_AI_RATE_P1": "5"}
    with machine.host.device("mlxconfig").state({"devices": {}}) as state:
        state["devices"] = {pci_address(at): {name: (it,) * 3 for name, it in values.items()} for at in range(2)}
    assert machine.run(rates=[{"name": "rpg_ai_rate", "value": 5}])["steps"] == TOS
    refused = machine.run(rates=RATES[:1])["msg"]
    assert "rail0 must have rpg_ai_rate 10, but" in refused and "its firmware has 5" in refused
    assert f"run mlxconfig -d {pci_address(0)} set RPG_AI_RATE_P1=10 and boot the node" in refused


def test_an_older_nccl_gets_the_index_that_the_rails_have(machine: Machine) -> None:
    assert not machine.run(gid_index=3).get("failed")
    refused = machine.run(gid_index=1)["msg"]
    assert "nccl_gid_index is 1, but rail0 has its RoCE v2 GID with an IPv4 address at 3" in refused


def test_nics_without_drawbridges_congestion_control_get_the_mark_of_connections_alone(machine: Machine) -> None:
    """Those of Broadcom and Intel: their RDMA devices are found by their ports, not by settings that they lack."""
    shutil.rmtree(machine.root / "sys/kernel/debug")
    unset = {"cnp_dscp": -1, "cnp_priority": -1, "ecn_priorities": []}
    assert machine.run(**unset)["steps"] == TOS
    assert machine.run(**unset)["changed"] is False
    swapped = [{**device, "rdma": "bnxt_re9"} for device in GROUP["devices"]]
    assert (
        "nics.rdma has bnxt_re9, but the RDMA device of rail0 is mlx5_0" in machine.run(**unset, devices=swapped)["msg"]
    )


def test_where_the_network_is_the_sites_devices_are_compared_and_nothing_is_set(machine: Machine) -> None:
    shutil.rmtree(machine.root / "sys/kernel/config")
    unset = {"tos": -1, "cnp_dscp": -1, "cnp_priority": -1, "ecn_priorities": [], "needs_gid": False}
    done = machine.run(**unset)
    assert (done["steps"], done["changed"], machine.kernel.written) == ([], False, [])
    swapped = [{**device, "rdma": "mlx5_9"} for device in GROUP["devices"]]
    assert "nics.rdma has mlx5_9" in machine.run(**unset, devices=swapped)["msg"]
