# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command that is one virtual machine. QEMU emulates its processors: /dev/kvm is not needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.vm.kernel import Kernel


@dataclass(frozen=True)
class Network:
    """Tap devices by the guest's MAC address. The first one is eth0, with the address."""

    taps: Mapping[str, str]
    address: str
    gateway: str


@dataclass(frozen=True)
class Root:
    """What the guest boots: a directory that it only reads, its own disk, and directories that it shares.

    `shared` is the guest's path and the machine's directory, which both write to.
    """

    directory: Path
    volume: Path
    shared: Mapping[str, Path] = field(default_factory=dict)


def boot(kernel: Kernel, root: Root, cpus: int, memory_mib: int, network: Network, sockets: int = 1) -> list[str]:
    """The command that boots `root` with this kernel, processors, memory and network. Each socket is a NUMA node.

    A machine that reboots stays the same process, and one that is powered off ends.
    """
    # mitigations cost an emulated processor much and protect nothing here
    words = ("console=ttyS0", "quiet", "net.ifnames=0", "mitigations=off", "systemd.show_status=no")
    # on a busy machine an emulated timer is late, and the kernel would take it for a broken one and stop
    words += ("no_timer_check",)
    words += ("systemd.condition_needs_update=0", f"lab.shared={':'.join(root.shared)}")
    line = " ".join([*words, f"lab.address={network.address}", f"lab.gateway={network.gateway}"])
    # With a thread for each processor, those that wait for one that the machine does not run would spin for its lock.
    return [
        *("qemu-system-x86_64", "-accel", "tcg,thread=single", "-cpu", "max"),
        *("-smp", f"{cpus},sockets={sockets},cores={cpus // sockets},threads=1", "-m", f"{memory_mib}M"),
        *(word for socket in range(sockets) for word in _socket(socket, cpus // sockets, memory_mib // sockets)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-device", "virtio-rng-pci"),
        *("-kernel", str(kernel.image), "-initrd", str(kernel.initrd), "-append", line),
        *("-drive", f"file={root.volume},if=virtio,format=raw,cache=unsafe"),
        *_share("root", root.directory, ",readonly=on"),
        *(word for number, path in enumerate(root.shared.values()) for word in _share(f"shared{number}", path)),
        *_cables(network.taps),
    ]


def _socket(number: int, cpus: int, memory_mib: int) -> list[str]:
    """A NUMA node with its processors and memory."""
    first = number * cpus
    memory = ["-object", f"memory-backend-ram,id=memory{number},size={memory_mib}M"]
    return [*memory, "-numa", f"node,nodeid={number},cpus={first}-{first + cpus - 1},memdev=memory{number}"]


def _share(tag: str, path: Path, more: str = "") -> list[str]:
    return ["-virtfs", f"local,path={path},mount_tag={tag},security_model=passthrough,multidevs=remap{more}"]


def _cables(taps: Mapping[str, str]) -> Sequence[str]:
    words: list[str] = []
    for number, (mac, tap) in enumerate(taps.items()):
        words += ["-netdev", f"tap,id=net{number},ifname={tap},script=no,downscript=no"]
        words += ["-device", f"virtio-net-pci,netdev=net{number},mac={mac}"]
    return words
