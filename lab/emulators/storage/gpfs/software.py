# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""GPFS's programs on one host: their release, and the kernel modules, which must fit kernel and release.

The packages of the lab, and its image, put the file `release` below /usr/lpp/mmfs. A kernel module holds the release
that it was built from. The running kernel is the one that the host's /proc says, so that a lab's host can change it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...common import procfs
from .text import dated

if TYPE_CHECKING:
    from collections.abc import Iterable

RELEASES = {"5.1": "5.1.9-0", "5.2": "5.2.1-0", "6.0": "6.0.0-0"}
"""Releases of hosts without the file."""
MODULES = ("mmfs26.ko", "mmfslinux.ko", "tracedev.ko")
TOOLS = ("make", "cpp", "gcc", "g++")


def mmfs() -> Path:
    """Return the directory of this host's configuration."""
    return Path(os.environ.get("LAB_MMFS_DIR", "/var/mmfs"))


def programs() -> Path:
    """Return the directory of GPFS's programs."""
    return Path(os.environ.get("LAB_LPP_DIR", "/usr/lpp/mmfs"))


def release(version: str) -> str:
    """Return the installed release."""
    path = programs() / "release"
    return path.read_text().strip() if path.exists() else RELEASES[version]


def kernel() -> str:
    """Return the running kernel."""
    path = procfs() / "sys/kernel/osrelease"
    return path.read_text().strip() if path.exists() else os.uname().release


def modules() -> Path:
    """Return the directory of the running kernel's modules."""
    return Path(os.environ.get("LAB_MODULES_DIR", "/lib/modules")) / kernel()


def misfit(version: str) -> str:
    """Return why GPFS can't load its kernel modules, "" if it can."""
    for name in MODULES:
        path = modules() / "extra" / name
        if not path.exists():
            return (
                f"mmremote: startSubsys: The {path} kernel extension does not exist. Use mmbuildgpl command to"
                " create the needed kernel extension for your kernel or copy the binaries from another node with the"
                " identical environment."
            )
        if path.read_text().strip() != release(version):
            return "The GPFS daemon and the kernel extension do not match."
    return ""


def write_modules(built_from: str, names: Iterable[str] = MODULES) -> None:
    """Put kernel modules for the running kernel in place."""
    folder = modules() / "extra"
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(f"{built_from}\n")


def log(now: float, line: str) -> None:
    """Append to GPFS's log of this host."""
    folder = Path(os.environ.get("LAB_RAS_DIR", "/var/adm/ras"))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "mmfs.log.latest").open("a") as file:
        file.write(f"{dated(now, line)}\n")


def unbuildable(unsupported: Iterable[str]) -> Iterable[str]:
    """Yield why the kernel modules can't be built here, as the tool's lines; nothing if they can."""
    source, headers = programs() / "src", modules() / "build/include"
    if not source.is_dir():
        yield f"The directory {source} does not exist: the package gpfs.gpl is not installed."
        return
    if not headers.is_dir():
        yield "  Cannot find a valid kernel header file. One of the following packages may be needed:"
        yield f"    linux-headers-{kernel()} or kernel-devel-{kernel()}"
        return
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    missing = [tool for tool in TOOLS if not any((Path(folder) / tool).exists() for folder in folders)]
    yield from (f"  {tool} is not present. Install the package that contains it." for tool in missing)
    if not missing and kernel() in unsupported:
        yield "Invoking Kbuild..."
        yield "/usr/lpp/mmfs/src/gpl-linux/kx.c:53:10: error: 'struct page' has no member named 'index'"
        yield "make: *** [Makefile:148: Modules] Error 1"
