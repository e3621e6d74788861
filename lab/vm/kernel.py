# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Debian's own kernel for virtual machines: the image, a layer with its modules, and an initrd; built once."""

from __future__ import annotations

import hashlib
import lzma
import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.image import recipe

HERE = Path(__file__).resolve().parent
INIT = HERE / "initrd/init"
# depmod opens liblzma itself, so that no dependency names it.
PACKAGES = ("linux-image-amd64", "busybox-static", "liblzma5")
NEEDED = ("virtio_net", "virtio_blk", "crc32c_generic", "ext4", "overlay", "9pnet_virtio", "9p")
"""What has to be loaded before the root file system can be."""


@dataclass(frozen=True)
class Kernel:
    """Where a built kernel lies."""

    directory: Path

    @property
    def image(self) -> Path:
        """The file that QEMU boots."""
        return self.directory / "vmlinuz"

    @property
    def initrd(self) -> Path:
        """What makes the root file system reachable."""
        return self.directory / "initrd"

    @property
    def layer(self) -> Path:
        """A lower layer of a host's overlay, with /usr/lib/modules."""
        return self.directory / "layer"


def key() -> str:
    """Sixteen hex digits that change when what shapes the kernel changes."""
    suite = recipe.packages()["suite"]
    text = "\0".join([suite, *PACKAGES, INIT.read_text(), Path(__file__).read_text()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def cached(cache: Path) -> Kernel | None:
    """The kernel of the present recipe, or None when it has to be built first."""
    kernel = Kernel(cache / "vm" / key())
    return kernel if kernel.directory.is_dir() else None


def ensure(cache: Path) -> Kernel:
    """The kernel of the present recipe; builds it when the cache has none (LabError when that fails)."""
    if kernel := cached(cache):
        return kernel
    final = cache / "vm" / key()
    partial = final.with_name(f"{final.name}.{os.getpid()}.partial")
    (partial / "layer/usr/lib").mkdir(parents=True)
    try:
        _build(partial)
        partial.rename(final)
    except OSError:
        if not final.is_dir():  # another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Kernel(final)


def _build(partial: Path) -> None:
    packages = partial / "packages"
    mirror = os.environ.get("LAB_MIRROR")
    _run(
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=extract", "--format=directory"),
        *("--include=" + ",".join(PACKAGES), '--aptopt=APT::Install-Recommends "false"'),
        *(recipe.packages()["suite"], str(packages), *([mirror] if mirror else [])),
    )
    for name in ("lib", "lib64", "sbin"):
        (packages / name).symlink_to(f"usr/{name}")
    modules = next((packages / "usr/lib/modules").iterdir())
    _run("chroot", str(packages), "/usr/sbin/depmod", modules.name)
    _initrd(packages, modules, partial / "initrd")
    shutil.copyfile(packages / f"boot/vmlinuz-{modules.name}", partial / "vmlinuz")
    shutil.move(packages / "usr/lib/modules", partial / "layer/usr/lib/modules")
    shutil.rmtree(packages)


def load_order(dependencies: str, wanted: Iterable[str]) -> list[str]:
    """The files to load for the wanted modules, each after those that it needs, from the text of modules.dep."""
    needs = {path: rest.split() for path, _, rest in (line.partition(":") for line in dependencies.splitlines())}
    by_name = {Path(path).name.partition(".")[0].replace("-", "_"): path for path in needs}
    order: dict[str, None] = {}
    for name in wanted:
        # a line names the nearest need first
        order |= dict.fromkeys([*reversed(needs[by_name[name]]), by_name[name]])
    return list(order)


def _initrd(packages: Path, modules: Path, target: Path) -> None:
    tree = packages / "initrd"
    for directory in ("bin", "modules", "proc", "sys", "dev", "lower", "volume", "root"):
        (tree / directory).mkdir(parents=True)
    shutil.copy(packages / "usr/bin/busybox", tree / "bin/busybox")
    shutil.copy(INIT, tree / "init")
    names = []
    for path in load_order((modules / "modules.dep").read_text(), NEEDED):
        name = Path(path).name.removesuffix(".xz")
        (tree / "modules" / name).write_bytes(lzma.decompress((modules / path).read_bytes()))
        names.append(name)
    (tree / "modules/order").write_text("\n".join([*names, ""]))
    files = "\n".join([str(path.relative_to(tree)) for path in sorted(tree.rglob("*"))])
    argv = [str(tree / "bin/busybox"), "cpio", "-o", "-H", "newc"]
    archive = subprocess.run(argv, cwd=tree, input=files.encode(), capture_output=True, check=True)
    target.write_bytes(archive.stdout)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = "; ".join(done.stderr.splitlines()[-3:])
        raise LabError(f"the kernel of virtual machines could not be built: {command[0]} said {last}; try again")
