# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All settings of eight rails and two storage ports: from several states one run, and after that nothing to write.

The devices are those of the modules; the emulated tools run in this process.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Callable

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Outcome,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import backends_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import io as ports_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic import plan as qos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.backends_io import backends
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import io as links_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import plan as links
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import io as roce_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.roce import plan as roce
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.view import (
    mtu_groups,
    nic_qos,
    roce_groups,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.nics import Nics

from lab.emulators.common import SUBSYSTEMS, Device, family
from lab.emulators.nic import openibd
from lab.emulators.nic.kernel import Kernel
from lab.machine.hardware import Hardware
from lab.machine.trees import pci_address, processors, rails
from tests import emulated_nic
from tests.unit.module_utils.nic.test_view import FABRIC, NODES, STORAGE

NUMA = (0, 0, 0, 0, 1, 1, 1, 1)
HARDWARE = Hardware(2, 4, 2, 1 << 20, 2, rail_numa=NUMA, store_numa=(0, 1))
PORTS = [*(f"rail{at}" for at in range(8)), "stor0", "stor1"]
SETTINGS: dict[str, Any] = {"read_request_bytes": 4096, "local_interrupts": True, "ring_size": 8192}
PLACES = {"fresh/irq": "proc/irq", "fresh/": "sys/kernel/", "layer/": "", "bind/": ""}
TOOLS = ("mlnx_qos", "ethtool", "net", "pciutils")


def groups() -> dict[str, list[dict[str, Any]]]:
    """What the intent makes of a node with eight rails and two storage ports."""
    build = NODES.classes["h100"]
    gpu = replace(build.nics[0], route_table=1000, relaxed_ordering="enabled", **SETTINGS)
    store = Nics("stor[0-1]", "mlx5_[8-9]", (0, 1), purpose="storage", route_table=1100, **SETTINGS)
    nodes = replace(NODES, classes={"h100": replace(build, nics=(gpu, store))})
    storage = replace(STORAGE, lossless=True)
    return {
        "qos": nic_qos(nodes, FABRIC.roce, FABRIC.cnp, storage, "gpu01", 30),
        "mtu": mtu_groups(nodes, 9000, "gpu01"),
        "roce": roce_groups(nodes, FABRIC.roce, FABRIC.cnp, storage, "gpu01"),
    }


def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
    """Run an emulated tool here. No manager of the network runs."""
    name = Path(argv[0]).name
    if name == "systemctl":
        return Completed(3, "inactive\ninactive\n", "")
    if name == "pgrep":
        return Completed(1, "", "")
    out, err, module = io.StringIO(), io.StringIO(), family(name)
    assert module
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        emulator = importlib.import_module(f"lab.emulators.{SUBSYSTEMS[module]}.{module}")
        code = emulator.main(name, list(argv[1:]))
    if code not in ok:
        raise DeviceError(f"{name} failed: {(err.getvalue() or out.getvalue()).strip()}")
    return Completed(code, out.getvalue(), err.getvalue())


class Node:
    """The host, and what one visit of the role does on it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.kernel = root, Kernel()
        self._files, pointers = rails(HARDWARE)
        self._files |= processors(HARDWARE)
        for name, to in pointers.items():
            path = root / name.replace("layer/", "", 1)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(to)
        for name, place in {"LAB_SYSFS": "sys", "LAB_PROCFS": "proc", "LAB_DEVICE_DIR": "lab"}.items():
            monkeypatch.setenv(name, str(root / place))
        for module in (links_io, roce_io, backends_io):
            monkeypatch.setattr(module, "ROOT", str(root))
        monkeypatch.setattr(roce_io, "write", self.kernel.write)
        monkeypatch.setattr(ports_io, "LINK_CHECK_S", 0)
        (root / "sys/class/net").mkdir(parents=True)
        (root / "proc/sys/kernel/random").mkdir(parents=True)
        for name in PORTS:
            (root / "sys/class/net" / name).symlink_to(f"../../devices/virtual/net/{name}")
        self.boot("first")

    def boot(self, number: str) -> None:
        """Everything that is no file of the host is as the firmware and the drivers make it."""
        (self.root / "proc/sys/kernel/random/boot_id").write_text(number)
        for name, text in self._files.items():
            place = self.root / next(name.replace(it, to, 1) for it, to in PLACES.items() if name.startswith(it))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        link = {"mtu": 1500, "max_mtu": 9978, "operstate": "UP", "network_file": "", "profile": ""}
        addresses = {name: [f"10.{10 + at}.0.1/16"] for at, name in enumerate(PORTS)}
        with self.device("net").state() as state:
            names = enumerate(PORTS)
            state["links"] = {name: {**link, "index": at, "addresses": addresses[name]} for at, name in names}
            state.update(rules=[], routes=[])
        for name in PORTS:
            folder = self.root / "proc/sys/net/ipv4/conf" / name
            folder.mkdir(parents=True, exist_ok=True)
            for key, value in {"arp_ignore": "0", "arp_announce": "0", "rp_filter": "1"}.items():
                (folder / key).write_text(f"{value}\n")

    def device(self, tool: str) -> Device:
        return Device(self.root / "lab" / tool)

    def visit(self, *, check: bool = False) -> list[Outcome]:
        """One run of the role's three modules, or of drawbridge-nic."""
        made = groups()
        want = qos.wanted(made["qos"]), links.wanted(made["mtu"]), roce.wanted(made["roce"])
        options = {"may_flap_links": True}
        found = [
            converge(ports_io.NicPorts(run, backends(run, str), want[0]), qos.plan, want[0], check, options=options),
            converge(links_io.NicDevices(run, want[1]), links.plan, want[1], check),
            converge(roce_io.RdmaDevices(run, want[2]), roce.plan, want[2], check),
        ]
        assert [outcome.error for outcome in found] == [""] * 3
        return found

    def written(self) -> int:
        """Commands and values that asked for a change so far."""
        calls = [call for tool in TOOLS for call in self.device(tool).calls()]
        return len([call for call in calls if call["writes"]]) + len(self.kernel.written)

    def bounces(self) -> list[int]:
        with self.device("mlnx_qos").state() as state:
            return [state["ports"][port]["link_flaps"] for port in PORTS]

    def ports(self, **changes: Any) -> None:
        """Change all ports behind Drawbridge's back."""
        with self.device("mlnx_qos").state() as state:
            for port in PORTS:
                state["ports"][port] |= changes

    def file(self, pattern: str, text: str) -> None:
        for path in self.root.glob(pattern):
            path.write_text(f"{text}\n")


def factory(node: Node) -> bool:
    del node
    return True


def of_an_operator(node: Node) -> bool:
    """Trust is right, CNPs have another mark, priority 4 is paused on every port, and firmware controls DCBX."""
    node.visit()
    node.ports(pfc=[0, 0, 0, 1, 1, 0, 0, 0], dcbx="fw", apps=[[26, 4], [48, 0], *([it, 1] for it in range(8))])
    node.file("sys/kernel/debug/mlx5/*/cc_params/np_cnp_dscp", "4")
    for port in PORTS:
        run(["ethtool", "-A", port, "rx", "on"])
    return True


def half_done(node: Node) -> bool:
    """A run was killed: one port is right, one has trust alone, and rail 1 has its rule without its route."""
    node.visit()
    with node.device("mlnx_qos").state() as state:
        for at, port in enumerate(PORTS[1:]):
            state["ports"][port] |= {"pfc": [0] * 8, "tsa": ["vendor"] * 8, "tcbw": [0] * 8} | (
                {} if at else {"apps": []}
            )
    with node.device("net").state() as state:
        state["routes"] = [it for it in state["routes"] if it["table"] != "1001"]
        state["links"]["rail3"]["mtu"] = 4200
    return False


def of_another_cluster(node: Node) -> bool:
    """Its class had priority 5, its shares were others, and PCIe and interrupts were tuned for something else."""
    node.visit()
    node.ports(
        pfc=[0, 0, 0, 0, 0, 1, 0, 0], apps=[], cable_len=100, tsa=["ets"] * 8, tcbw=[30, 10, 10, 10, 10, 10, 10, 10]
    )
    for at in range(10):
        run(["setpci", "-s", pci_address(at), "CAP_EXP+08.w=0000:7010"])
    node.file("proc/irq/*/smp_affinity_list", "0")
    node.file("sys/kernel/config/rdma_cm/*/ports/1/default_roce_tos", "41")
    for port in PORTS:
        run(["ip", "link", "set", "dev", port, "mtu", "2000"])
    return True


def reloaded(node: Node) -> bool:
    """The driver was loaded again. PFC is in the port's register, so that no link bounces again."""
    node.visit()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openibd.subprocess, "run", lambda argv, check: run(argv))
        run(["openibd", "restart"])
    return False


def rebooted(node: Node) -> bool:
    node.visit()
    node.boot("second")
    return True


STATES = (factory, of_an_operator, half_done, of_another_cluster, reloaded, rebooted)


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_one_run_ends_in_the_intent_and_the_next_starts_no_writing_command(
    state: Callable[[Node], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Node(tmp_path, monkeypatch)
    node.visit(check=True)
    every = state(node)
    written, bounced = node.written(), node.bounces()
    predicted = node.visit(check=True)
    assert node.written() == written, "check mode only reads"
    done = node.visit()
    assert [(it.steps, it.diff) for it in predicted] == [(it.steps, it.diff) for it in done], "check mode is exact"
    assert any(it.steps for it in done)
    if every:
        assert node.bounces() == [count + 1 for count in bounced], "one bounce a port"
    elif state is reloaded:
        assert node.bounces() == bounced, "equal state is not written again"
    written, bounced = node.written(), node.bounces()
    assert [(it.changed, it.steps, it.pending) for it in node.visit()] == [(False, [], [])] * 3
    assert (node.written(), node.bounces()) == (written, bounced)


@pytest.mark.parametrize("state", [factory, reloaded, rebooted], ids=lambda state: state.__name__)
def test_storage_ports_of_intel_beside_rails_of_nvidia(
    state: Callable[[Node], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """mlnx_qos is installed for the rails, and dcb sets the others. A reload or a boot takes all from those."""
    node = Node(tmp_path, monkeypatch)
    for port in PORTS[8:]:
        emulated_nic.drive(tmp_path / "sys", port, "ice")
    node.visit(check=True)
    state(node)
    predicted, done = node.visit(check=True), node.visit()
    assert [(it.steps, it.diff) for it in predicted] == [(it.steps, it.diff) for it in done], "check mode is exact"
    assert "stor1: make priority 4 lossless, not none" in done[0].steps
    assert [step for step in done[0].steps if "stor0: share the link: 65 % for priority 0, 1 % for priority 1" in step]
    written, bounced = node.written(), node.bounces()
    assert [(it.changed, it.steps, it.pending) for it in node.visit()] == [(False, [], [])] * 3
    assert (node.written(), node.bounces()) == (written, bounced)


def test_the_sentences_of_a_run_name_port_option_wanted_and_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = Node(tmp_path, monkeypatch)
    node.visit(check=True)
    of_another_cluster(node)
    steps = [step for outcome in node.visit(check=True) for step in outcome.steps]
    for step in (step for step in steps if step.startswith(tuple(PORTS)) and ": add " not in step):
        assert ", not " in step, step
    assert "stor1: make priority 4 lossless, not 5" in steps
    assert "rail7: set interrupts to NUMA node 1, not CPUs 0" in steps
    assert "rail0: set PCIe read request to 4096, not 128" in steps
    assert "rail0: set PCIe relaxed ordering to enabled, not disabled" in steps
    assert "stor0: set default_roce_tos to 138, not 41" in steps
    shutil.rmtree(tmp_path / "lab")
