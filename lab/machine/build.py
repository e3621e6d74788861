# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write a pretended machine's trees and its preloaded library into the cache, once for all hosts of a kind."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from lab.errors import LabError
from lab.machine import amd, trees
from lab.machine.hardware import Hardware

HERE = Path(__file__).resolve().parent
Contents = tuple[trees.Files, dict[str, str]]
"""Files and links, by path."""
BINDS = ("/sys/devices/system/cpu", "/sys/devices/system/node", "/proc/meminfo", "/proc/cpuinfo")


def contents(hardware: Hardware | None) -> Contents:
    """Return a machine's files and links, by path: without hardware only what any kubelet needs in a guest."""
    files = trees.kubelet_prerequisites()
    binds = [path.removeprefix("bind") for path in files]
    links: dict[str, str] = {}
    if hardware:
        rdma, links = trees.rails(hardware)
        driver, pointers = gpus(hardware)
        files |= trees.processors(hardware) | rdma | driver
        links |= pointers
        binds += [*BINDS, *driver_files(driver)]
    files["hwloc"] = f"{hardware.hwloc}\n" if hardware else ""
    return files | tables(binds, hardware), links


def gpus_alone(hardware: Hardware) -> Contents:
    """Return files and links, by path, of a virtual machine's GPUs: all else of it is real."""
    files, links = gpus(hardware)
    return files | tables(driver_files(files), hardware), links


def gpus(hardware: Hardware) -> Contents:
    """Return what a driver shows of GPUs."""
    return amd.gpus(hardware) if hardware.gpu_vendor == "amd" else (trees.gpus(hardware), {})


def driver_files(driver: trees.Files) -> list[str]:
    """Return the directory of procfs that has files of a driver, or none."""
    return ["/proc/driver"] if any(path.startswith("bind/proc/driver/") for path in driver) else []


def tables(binds: list[str], hardware: Hardware | None) -> trees.Files:
    """Return what the guest's script reads: places to mount, and device files to make."""
    found = devices(hardware)
    return {
        "binds": "".join(f"{place}\n" for place in binds),
        "devices": "".join(f"{path} {major} {minor}\n" for path, major, minor in found),
    }


def devices(hardware: Hardware | None) -> list[tuple[str, int, int]]:
    """Return path and numbers of the GPUs' device files."""
    if hardware and hardware.gpu_vendor == "amd":
        return amd.devices(hardware)
    return [(f"/dev/nvidia{gpu}", 195, gpu) for gpu in range(len(hardware.gpu_numa) if hardware else 0)]


def ensure(cache: Path, hardware: Hardware | None, of: Callable[..., Contents] = contents) -> Path:
    """Return the directory of a machine, writing it when the cache lacks it; LabError when no C compiler works.

    `of` says which part of the hardware is pretended.
    """
    files, links = of(hardware)
    shim = HERE / "guest" / "memory.c"
    digest = hashlib.sha256(repr((sorted(files.items()), sorted(links.items()), shim.read_text())).encode())
    done = cache / "machine" / digest.hexdigest()[:16]
    if done.is_dir():
        return done
    done.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".writing-", dir=done.parent))
    try:
        _write(work, files, links)
        _compile(shim, work / "memory.so")
        work.chmod(0o755)
        _publish(work, done)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return done


def _write(base: Path, files: trees.Files, links: dict[str, str]) -> None:
    for name, text in files.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    for name, to in links.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).symlink_to(to)


def _compile(source: Path, library: Path) -> None:
    try:
        command = ["gcc", "-shared", "-fPIC", "-O1", "-o", library, source]
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError:
        raise LabError("gcc is missing, and slurmd's view of memory needs it: apt-get install gcc libc6-dev") from None
    except subprocess.CalledProcessError as error:
        raise LabError(
            f"{source} could not be compiled: {error.stderr.strip()}; apt-get install gcc libc6-dev"
        ) from None


def _publish(work: Path, done: Path) -> None:
    """Rename into place; another lab may have been faster, and wrote the same."""
    try:
        work.rename(done)
    except OSError:
        if not done.is_dir():
            raise
