# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links import settings_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.pcie import READ_REQUEST
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nic.links.settings_io import (
    DeviceSettings,
)

KEY: tuple[str, str] = ("rail0", "interrupts")
WANT: dict[tuple[str, str], str] = {KEY: "NUMA node 1"}


class Tool:
    """Answers like setpci, which ends with 0 also when it failed."""

    def __init__(self, out: str = "", err: str = "") -> None:
        self.ran: list[list[str]] = []
        self._answer = Completed(0, out, err)

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        del ok
        self.ran.append(list(argv))
        return self._answer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A port with three interrupts, of which the kernel shows two, on the second of two NUMA nodes."""
    files = {f"sys/class/net/rail0/device/msi_irqs/{number}": "msix" for number in (7, 8, 9)}
    files |= {"proc/irq/7/smp_affinity_list": "5", "proc/irq/8/smp_affinity_list": "0-7"}
    files |= {"sys/devices/system/node/node0/cpulist": "0-3", "sys/devices/system/node/node1/cpulist": "4-7"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{text}\n")
    return tmp_path


def affinity(root: Path, number: int) -> str:
    return (root / f"proc/irq/{number}/smp_affinity_list").read_text().strip()


def test_an_interrupt_of_another_node_moves_and_the_others_stay(root: Path) -> None:
    device = DeviceSettings(Tool(), str(root))
    assert device.read(WANT) == {KEY: "CPUs 0-7"}
    device.write(*KEY, "NUMA node 1")
    assert (affinity(root, 7), affinity(root, 8)) == ("5", "4-7")
    assert device.read(WANT) == WANT


def test_a_port_without_interrupts_of_its_own_has_none_to_move(root: Path) -> None:
    want = {("bond0", "interrupts"): "NUMA node 0"}
    assert DeviceSettings(Tool(), str(root)).read(want) == want


def test_an_interrupt_that_the_kernel_places_is_named_with_the_way_out(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, value: str) -> None:
        raise OSError(5, "Input/output error", f"{path} {value}")

    monkeypatch.setattr(settings_io, "write", refuse)
    with pytest.raises(DeviceError, match=r"irq/8/smp_affinity_list did not take 4-7: Input.*remove local_interrupts"):
        DeviceSettings(Tool(), str(root)).write(*KEY, "NUMA node 1")


def test_a_numa_node_that_the_host_lacks_is_the_intents_fault(root: Path) -> None:
    with pytest.raises(DeviceError, match=r"nics[.]numa gives rail0 NUMA node 2, which this host does not have"):
        DeviceSettings(Tool(), str(root)).read({KEY: "NUMA node 2"})


def test_one_call_reads_the_registers_of_all_ports(root: Path) -> None:
    tool = Tool("5910\n2910\n")
    want = {(port, READ_REQUEST): "4096" for port in ("rail1", "rail0")}
    found = DeviceSettings(tool, str(root)).read(want)
    assert (len(tool.ran), found["rail0", READ_REQUEST], found["rail1", READ_REQUEST]) == (1, "4096", "512")


@pytest.mark.parametrize("printed", ["", "2910\n"])
def test_a_device_that_setpci_does_not_find_is_an_error(root: Path, printed: str) -> None:
    tool = Tool(printed, "setpci: Warning: No devices selected for operation group 2.\n")
    want = {(port, READ_REQUEST): "4096" for port in ("rail0", "rail1")}
    with pytest.raises(DeviceError, match=r"registers for rail0, rail1: setpci: Warning: No devices .* group 2[.]"):
        DeviceSettings(tool, str(root)).read(want)


def test_an_ethtool_that_prints_no_settings_of_the_port_is_an_error(root: Path) -> None:
    with pytest.raises(DeviceError, match="rail0: ethtool printed no settings of a port, but 'inactive'"):
        DeviceSettings(Tool("inactive\n"), str(root)).read({("rail0", "global pause rx"): "off"})
