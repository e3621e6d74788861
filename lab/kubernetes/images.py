# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pod images without a registry: made from packages of the hosts' own image."""

from __future__ import annotations

import hashlib
import io
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lab.errors import LabError
from lab.kubernetes import oci

RECIPE = (Path(__file__), Path(oci.__file__))
BUSYBOX = "busybox-static"
PYTHON = (
    "python3.13-minimal",
    "libpython3.13-minimal",
    "libpython3.13-stdlib",
    "libbz2-1.0",
    "libc6",
    "libexpat1",
    "libffi8",
    "liblzma5",
    "libssl3t64",
    "libuuid1",
    "libzstd1",
    "zlib1g",
)
NOT_NEEDED = ("/usr/share/", "/usr/lib/locale/", "gconv/", "/etc/", "pydoc_data/", "lib-dynload/_test", "_sqlite3.")
# What Debian's own tree links and every program expects.
MERGED = {"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64"}
DIRECTORIES = ("dev", "etc", "proc", "sys", "tmp", "usr", "usr/bin", "usr/sbin", "usr/lib", "usr/lib64")


@dataclass(frozen=True)
class Image:
    """A pod image: its name, the Debian packages it is made of, links to add, and the command it runs by default."""

    name: str
    packages: tuple[str, ...]
    links: tuple[tuple[str, str], ...]
    command: tuple[str, ...]

    @property
    def archive(self) -> str:
        """The archive's file name."""
        return self.name.rpartition("/")[2].replace(":", "-") + ".tar"


APPLETS = ("sh", "cat", "echo", "env", "hostname", "id", "ls", "ps", "sleep", "true", "wget")
SHELL = tuple((f"usr/bin/{applet}", "busybox") for applet in APPLETS)
IMAGES = (
    Image("docker.io/lab/pause:1", (BUSYBOX,), (), ("/bin/busybox", "sleep", "2147483647")),
    Image("docker.io/lab/python:3", (BUSYBOX, *PYTHON), (*SHELL, ("usr/bin/python3", "python3.13")), ("python3",)),
)


def ensure(cache: Path, tree: Path) -> Path:
    """Return the directory with one archive per image, made from the installed packages of a Debian tree."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in (*RECIPE, tree / "var/lib/dpkg/status")))
    done = cache / "pod-images" / digest.hexdigest()[:16]
    if done.is_dir():
        return done
    done.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=done.parent) as work:
        finished = Path(work) / "images"
        finished.mkdir()
        for image in IMAGES:
            written = oci.archive(image.name, image.command, layer(image, tree))
            (finished / image.archive).write_bytes(written)
        try:
            finished.rename(done)
        except OSError:
            # Another lab was faster, and wrote the same.
            if not done.is_dir():
                raise
    return done


def layer(image: Image, tree: Path) -> bytes:
    """Return the image's only layer, a tar of its packages' files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in DIRECTORIES:
            tar.addfile(_entry(name, tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755))
        for name, target in (*MERGED.items(), *image.links):
            tar.addfile(_entry(name, tarfile.SYMTYPE, 0o777, target))
        for path in sorted(set(_files(tree, image.packages))):
            tar.add(tree / path, arcname=path, recursive=False, filter=_anonymous)
    return buffer.getvalue()


def _files(tree: Path, packages: Iterable[str]) -> Iterator[str]:
    """Yield the packages' files and links, relative to the tree, as dpkg recorded them."""
    for package in packages:
        for line in _list_of(tree, package).read_text().splitlines():
            path = tree / line.lstrip("/")
            if not any(part in line for part in NOT_NEEDED) and (path.is_symlink() or path.is_file()):
                yield str(path.relative_to(tree))


def _list_of(tree: Path, package: str) -> Path:
    recorded = tree / "var/lib/dpkg/info"
    for listed in (*recorded.glob(f"{package}.list"), *recorded.glob(f"{package}:*.list")):
        return listed
    raise LabError(f"the hosts' image lacks {package}, which a pod image is made of: add it to lab/image/packages.yml")


def _entry(name: str, kind: bytes, mode: int, target: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode, entry.linkname = kind, mode, target
    return entry


def _anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry
