# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Settings of RDMA network devices beside MTU and routes: the kernel's own files, ethtool and setpci."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from ...core.command import Run
from ...core.converge import DeviceError
from ...core.cpus import cpu_list, cpu_ranges
from . import pcie
from .settings import INTERRUPTS, NUMA_NODE, OPTIONS, PAUSES, RINGS, Settings
from .text import port_settings


class DeviceSettings:
    """Settings on this host. `root` is a prefix of the kernel's trees, for tests."""

    def __init__(self, run: Run, root: str = "") -> None:
        self._run, self._root = run, root

    def read(self, wanted: Settings) -> Settings:
        """Those that are wanted, as they are. Raises DeviceError."""
        ports = {name for name, key in wanted if key in pcie.PCIE}
        found = self._registers(sorted(ports)) if ports else {}
        for (name, key), value in wanted.items():
            if key == INTERRUPTS:
                found[name, key] = self._interrupts(name, value)
            elif option := _option(key):
                if (name, key) not in found:
                    found.update(((name, it), text) for it, text in self._port(name, key, option[0]).items())
            elif key not in pcie.PCIE:
                found[name, key] = self._sysctl(name, key)
        return found

    def write(self, name: str, setting: str, value: str) -> None:
        """Set one. Raises DeviceError."""
        if setting == INTERRUPTS:
            self._bind(name, value)
        elif setting in pcie.PCIE:
            self._set_register(name, pcie.operation(setting, value))
        elif option := _option(setting):
            # older releases end with 78 or 79 when a value stays; the next reading decides
            self._run(["ethtool", option[1], name, setting.rpartition(" ")[2], value], ok=(0, 78, 79))
        else:
            self._sysctl(name, setting, value)

    def pci(self, name: str) -> str:
        """PCI address of a port."""
        return (self._net(name) / "device").resolve().name

    def _net(self, name: str) -> Path:
        return Path(f"{self._root}/sys/class/net/{name}")

    def _registers(self, ports: list[str]) -> Settings:
        """One call for all ports. setpci ends with 0 when it found no device, so the number of lines decides."""
        done = self._run(["setpci", *(word for name in ports for word in ("-s", self.pci(name), pcie.REGISTER))])
        words = done.out.split()
        if len(words) != len(ports):
            said = (done.err.strip() or "no warning").splitlines()[-1]
            raise DeviceError(f"setpci printed {len(words)} registers for {', '.join(ports)}: {said}", stdout=done.out)
        return {(name, key): text for name, word in zip(ports, words) for key, text in pcie.settings(word).items()}

    def _set_register(self, name: str, operation: str) -> None:
        """setpci ends with 0 also when the kernel refuses, as it does under lockdown; then it warns."""
        if warned := self._run(["setpci", "-s", self.pci(name), operation]).err.strip():
            raise DeviceError(f"setpci did not write the register: {warned.splitlines()[-1]}")

    def _interrupts(self, name: str, value: str) -> str:
        """The wanted value if all interrupts stay on its NUMA node, else their CPUs."""
        near, used = self._near(name, value), self.interrupt_cpus(name)
        return value if used <= near else f"CPUs {cpu_ranges(used)}"

    def interrupt_cpus(self, name: str) -> set[int]:
        """All CPUs that may serve an interrupt of the port; none if it has no interrupts of its own."""
        return {cpu for path in self._affinities(name) for cpu in _cpus(path)}

    def _bind(self, name: str, value: str) -> None:
        """Give the node's CPUs to each interrupt that has another, and leave those that a balancer has placed there."""
        near = self._near(name, value)
        for path in self._affinities(name):
            if not set(_cpus(path)) <= near:
                try:
                    write(path, cpu_ranges(near))
                except OSError as err:
                    raise DeviceError(
                        f"{path} did not take {cpu_ranges(near)}: {err.strerror}; the kernel itself places this"
                        " interrupt: remove local_interrupts of these nics in drawbridge_nodes"
                    ) from err

    def _near(self, name: str, value: str) -> set[int]:
        place = f"{self._root}/sys/devices/system/node/node{value[len(NUMA_NODE) :]}/cpulist"
        try:
            return set(cpu_list(Path(place).read_text().strip()))
        except (OSError, ValueError) as err:
            raise DeviceError(
                f"nics.numa gives {name} {value}, which this host does not have; correct it in drawbridge_nodes"
            ) from err

    def _affinities(self, name: str) -> list[Path]:
        """The files of its interrupts; a number that no driver uses has none."""
        numbers = sorted(int(it.name) for it in (self._net(name) / "device/msi_irqs").glob("[0-9]*"))
        places = [Path(f"{self._root}/proc/irq/{number}/smp_affinity_list") for number in numbers]
        return [place for place in places if place.exists()]

    def _port(self, name: str, key: str, option: str) -> dict[str, str]:
        """Both pauses, or both rings, of a port. A driver without pause has none to switch off."""
        try:
            values = port_settings(self._run(["ethtool", option, name]).out)
        except ValueError as err:
            raise DeviceError(f"{name}: {err}") from err
        except DeviceError as err:
            if key not in PAUSES or "Operation not supported" not in str(err):
                raise
            values = dict.fromkeys(PAUSES, "off")
        return {it: values[it] for it in (PAUSES if key in PAUSES else RINGS)}

    def _sysctl(self, device: str, name: str, value: str = "") -> str:
        """Read a setting of the device's IPv4, after writing it if there is a value. Raises DeviceError."""
        path = Path(f"{self._root}/proc/sys/net/ipv4/conf/{device}/{name}")
        try:
            if value:
                write(path, value)
            return path.read_text().strip()
        except OSError as err:
            raise DeviceError(f"{path}: {err.strerror}") from err


def _cpus(path: Path) -> Iterable[int]:
    with contextlib.suppress(OSError, ValueError):  # the driver gave the interrupt back meanwhile
        return cpu_list(path.read_text().strip())
    return []


def _option(setting: str) -> tuple[str, str] | None:
    """ethtool's options that read and set it; None for a setting of another program."""
    option = OPTIONS.get(setting, "")
    return (option.lower(), option) if option else None


def write(path: Path, value: str) -> None:
    """Write one value as a line. The kernel refuses by an error number. Raises OSError."""
    path.write_text(f"{value}\n")
