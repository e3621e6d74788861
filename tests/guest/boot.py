# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Boot a virtual machine. QEMU emulates its processor: /dev/kvm is not needed."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.hosts.paths import Paths
from lab.image import build as image
from lab.vm import kernel, packages

INIT = Path(__file__).parent / "init"
LIMIT_S = 1200
MEMORY_MIB = 512
LINE = "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off no_timer_check"
OVERLAY = 'mount -t overlay guest -o "lowerdir=$1" "$2"; shift 2; exec "$@"'
"""Arguments: layers, a mount point, a command. The mount ends with the command."""


@dataclass(frozen=True)
class Debian:
    """A kernel, and the directories that are a guest's root, the highest first."""

    kernel: kernel.Kernel
    tree: Path
    layers: tuple[Path, ...]

    @property
    def release(self) -> str:
        """The kernel's release, as uname says it."""
        return next((self.kernel.layer / "usr/lib/modules").iterdir()).name


def debian(*, with_packages: bool = False) -> Debian:
    """Debian as the lab has it; `with_packages` adds those of the lab's virtual machines, such as perftest."""
    cache = Paths.of().cache
    tree, own = image.ensure(cache, print).tree, kernel.ensure(cache)
    more = (packages.ensure(cache, tree),) if with_packages else ()
    return Debian(own, tree, (own.layer, *more, tree))


def start(system: Debian, folder: Path, script: Path, words: str = "", devices: Sequence[str] = ()) -> subprocess.Popen:
    """Boot a guest that runs the script. The console is written into `folder`; words end the kernel's command line."""
    root = folder / "root"
    root.mkdir(parents=True)
    initrd = folder / "initrd"
    initrd.write_bytes(system.kernel.initrd.read_bytes() + _archive(system.tree, folder / "own", script))
    argv = _qemu(system.kernel.image, initrd, f"{LINE} {words}", root, devices)
    layers = ":".join(map(str, system.layers))
    inside = ["unshare", "--mount", "--propagation=private", "sh", "-ec", OVERLAY, "sh", layers, str(root)]
    with (folder / "console").open("w") as console:
        return subprocess.Popen([*inside, *argv], stdin=subprocess.DEVNULL, stdout=console)


def end(guest: subprocess.Popen, *, patience_s: float = 0) -> None:
    """Wait until the guest has stopped by itself, then see to it that it has."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        guest.wait(timeout=patience_s)
    guest.kill()
    guest.wait()


def _archive(tree: Path, folder: Path, script: Path) -> bytes:
    """What the kernel unpacks over the initrd of the lab's virtual machines."""
    folder.mkdir()
    shutil.copy(INIT, folder / "init")
    shutil.copy(script, folder / "script.sh")
    argv = [str(tree / "usr/bin/busybox"), "cpio", "-o", "-H", "newc"]
    return subprocess.run(argv, cwd=folder, input=b"init\nscript.sh\n", capture_output=True, check=True).stdout


def _qemu(vmlinuz: Path, initrd: Path, line: str, root: Path, devices: Sequence[str]) -> list[str]:
    return [
        *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", f"{MEMORY_MIB}M"),
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-serial", "stdio"),
        *("-device", "virtio-rng-pci", *devices),
        *("-kernel", str(vmlinuz), "-initrd", str(initrd), "-append", line),
        *("-virtfs", f"local,path={root},mount_tag=root,security_model=passthrough,multidevs=remap,readonly=on"),
    ]
