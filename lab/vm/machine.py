# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command that is one virtual machine. QEMU emulates its processors: /dev/kvm is not needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.vm.kernel import Kernel


@dataclass(frozen=True)
class Network:
    """Tap devices by the guest's MAC address. The first one is eth0, with the address."""

    taps: Mapping[str, str]
    address: str
    gateway: str


def boot(kernel: Kernel, root: Path, cpus: int, memory_mib: int, network: Network) -> list[str]:
    """The command that boots the directory `root` with this kernel, processors, memory and network.

    The guest writes to the directory itself, as the owner of each file; there is no disk image. A machine that
    reboots stays the same process, and one that is powered off ends.
    """
    # mitigations cost an emulated processor much and protect nothing here
    words = ("console=ttyS0", "quiet", "net.ifnames=0", "mitigations=off", "systemd.show_status=no")
    words += ("systemd.condition_needs_update=0",)
    line = " ".join([*words, f"lab.address={network.address}", f"lab.gateway={network.gateway}"])
    share = f"local,path={root},mount_tag=root,security_model=passthrough,multidevs=remap"
    return [
        *("qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", str(cpus), "-m", f"{memory_mib}M"),
        *("-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-device", "virtio-rng-pci"),
        *("-kernel", str(kernel.image), "-initrd", str(kernel.initrd), "-append", line),
        *("-virtfs", share, *_cables(network.taps)),
    ]


def _cables(taps: Mapping[str, str]) -> Sequence[str]:
    words: list[str] = []
    for number, (mac, tap) in enumerate(taps.items()):
        words += ["-netdev", f"tap,id=net{number},ifname={tap},script=no,downscript=no"]
        words += ["-device", f"virtio-net-pci,netdev=net{number},mac={mac}"]
    return words
