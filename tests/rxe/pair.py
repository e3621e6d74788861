# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Two virtual machines with one cable between them: perftest's server and its client."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.hosts.paths import Paths
from lab.image import build as image
from lab.vm import kernel, packages
from tests.rxe import wire
from tests.waiting import until

HERE = Path(__file__).parent
LIMIT_S = 1200
MEMORY_MIB = 512
FIRST_PORT = 18600
LINE = "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off no_timer_check"
SERVER, CLIENT = "10.9.0.1", "10.9.0.2"
OVERLAY = 'mount -t overlay rxe -o "lowerdir=$1" "$2"; shift 2; exec "$@"'
"""Arguments: layers, a mount point, a command. The mount ends with the command."""


@dataclass(frozen=True)
class Seen:
    """What the client printed, and the types of service that it sent, by case."""

    printed: str
    sent: Mapping[str, set[int]]


def run(folder: Path, tos: int, cases: Mapping[str, tuple[str, ...]]) -> Seen:
    """Boot both, run all cases one after another. `tos`: RDMA-CM's default on both."""
    cache = Paths.of().cache
    tree = image.ensure(cache, print).tree
    debian = kernel.ensure(cache)
    layers = f"{debian.layer}:{packages.ensure(cache, tree)}:{tree}"
    initrd = folder / "initrd"
    initrd.write_bytes(debian.initrd.read_bytes() + own_files(tree))
    listed = ";".join(
        f"{name}:{FIRST_PORT + number}:{','.join(words)}" for number, (name, words) in enumerate(cases.items())
    )
    ends = []
    try:
        for end in (1, 2):
            root = folder / f"root{end}"
            root.mkdir()
            line = f"{LINE} rxe.end={end} rxe.tos={tos} rxe.cases={listed}"
            argv = qemu(debian.image, initrd, line, root, cable(folder, end))
            inside = ["unshare", "--mount", "--propagation=private", "sh", "-ec", OVERLAY, "sh", layers, str(root)]
            with (folder / f"console{end}").open("w") as console:
                ends.append(subprocess.Popen([*inside, *argv], stdin=subprocess.DEVNULL, stdout=console))
            # its server is there before the client looks for the cable
            until((folder / "cable").exists, LIMIT_S, "the first one has its end of the cable")
        with contextlib.suppress(subprocess.TimeoutExpired):
            ends[1].wait(timeout=LIMIT_S)
    finally:
        for process in ends:
            process.kill()
            process.wait()
    return Seen((folder / "console2").read_text(), wire.types_of_service((folder / "wire2").read_bytes(), CLIENT))


def own_files(tree: Path) -> bytes:
    """An archive that the kernel unpacks over the initrd of the lab's virtual machines."""
    argv = [str(tree / "usr/bin/busybox"), "cpio", "-o", "-H", "newc"]
    return subprocess.run(argv, cwd=HERE, input=b"init\nrxe.sh\n", capture_output=True, check=True).stdout


def cable(folder: Path, end: int) -> list[str]:
    """The cable's end; QEMU writes each packet on it into a file."""
    side = "server=on" if end == 1 else "server=off"
    return [
        *("-netdev", f"stream,id=net0,{side},addr.type=unix,addr.path={folder / 'cable'}"),
        *("-device", f"virtio-net-pci,netdev=net0,mac=02:00:00:00:00:0{end}"),
        *("-object", f"filter-dump,id=wire,netdev=net0,file={folder / f'wire{end}'}"),
    ]


def qemu(vmlinuz: Path, initrd: Path, line: str, root: Path, network: list[str]) -> list[str]:
    """The command that is one end."""
    return [
        *("qemu-system-x86_64", "-accel", "tcg", "-cpu", "max", "-smp", "1", "-m", f"{MEMORY_MIB}M"),
        *(
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-display",
            "none",
            "-serial",
            "stdio",
            "-device",
            "virtio-rng-pci",
        ),
        *("-kernel", str(vmlinuz), "-initrd", str(initrd), "-append", line, *network),
        *("-virtfs", f"local,path={root},mount_tag=root,security_model=passthrough,multidevs=remap,readonly=on"),
    ]
