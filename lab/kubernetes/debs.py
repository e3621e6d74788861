# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Packages of the kubelet and of containerd, in a flat repository, as a site's own mirror has them.

A Debian package is an ar(5) archive of three members. Its data is not compressed: hosts unpack it more often than it is
written.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.image import repository
from lab.tools import build

HERE = Path(__file__).resolve().parent
UNITS = HERE / "units"
REVISION = "1"
KUBELET_UNIT = """\
[Unit]
Description=kubelet: The Kubernetes Node Agent
Wants=network-online.target
After=network-online.target

[Service]
ExecStart=/usr/bin/kubelet
Restart=always
StartLimitInterval=0
RestartSec=10

[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True)
class Package:
    """A package: its programs by the name of the lab's tool, its unit, what it needs."""

    name: str
    version: str
    programs: tuple[str, ...]
    unit: str
    depends: str
    about: str

    @property
    def control(self) -> str:
        """The package's control file, which dpkg and apt read."""
        return (
            f"Package: {self.name}\nVersion: {self.version}\nArchitecture: amd64\nDepends: {self.depends}\n"
            f"Maintainer: Drawbridge lab <root@localhost>\nPriority: optional\nDescription: {self.about}\n"
        )

    @property
    def file(self) -> str:
        """Its file's name."""
        return f"{self.name}_{self.version}_amd64.deb"


PACKAGES = (
    Package(
        "kubelet",
        f"{build.KUBERNETES.removeprefix('v')}-{REVISION}",
        ("kubelet",),
        KUBELET_UNIT,
        "conntrack, iptables, iproute2, mount",
        "Kubernetes' node agent, as upstream packs it",
    ),
    Package(
        "containerd",
        f"{build.CONTAINERD}-{REVISION}",
        ("containerd", "containerd-shim-runc-v2", "ctr"),
        (UNITS / "containerd.service").read_text(),
        "runc",
        "container runtime, as upstream packs it",
    ),
)


def ensure(cache: Path, tools: Mapping[str, Path]) -> Path:
    """Return the repository's directory: packages made of the lab's tools, and the two files that apt reads."""
    recipe = "".join([*(str(package) for package in PACKAGES), *sorted(map(str, tools.values()))])
    digest = hashlib.sha256(Path(__file__).read_bytes() + recipe.encode()).hexdigest()[:16]
    done = cache / "kubernetes-debs" / digest
    if done.is_dir():
        return done
    done.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".writing-", dir=done.parent) as work:
        finished = Path(work) / "debs"
        finished.mkdir()
        stanzas = []
        for package in PACKAGES:
            deb = archive(package, {name: tools[name].read_bytes() for name in package.programs})
            (finished / package.file).write_bytes(deb)
            stanzas.append(repository.stanza(package.control, package.file, deb))
        listed = "\n".join(stanzas).encode()
        (finished / "Packages").write_bytes(listed)
        (finished / "Release").write_text(repository.release(listed, time.time()))
        finished.chmod(0o755)
        try:
            finished.rename(done)
        except OSError:
            # Another lab was faster, and wrote the same.
            if not done.is_dir():
                raise
    return done


def archive(package: Package, programs: Mapping[str, bytes]) -> bytes:
    """Return the .deb of a package."""
    data = {f"usr/bin/{name}": (content, 0o755) for name, content in programs.items()}
    data[f"usr/lib/systemd/system/{package.name}.service"] = (package.unit.encode(), 0o644)
    members = {
        "debian-binary": b"2.0\n",
        "control.tar.gz": gzip.compress(_tar({"control": (package.control.encode(), 0o644)}), mtime=0),
        "data.tar": _tar(data),
    }
    return b"!<arch>\n" + b"".join(_member(name, content) for name, content in members.items())


def _member(name: str, content: bytes) -> bytes:
    header = f"{name:<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
    return header + content + b"\n" * (len(content) % 2)


def _tar(files: Mapping[str, tuple[bytes, int]]) -> bytes:
    buffer = io.BytesIO()
    parents = {str(parent) for name in files for parent in Path(name).parents if str(parent) != "."}
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for folder in sorted(parents):
            entry = tarfile.TarInfo(f"./{folder}")
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(entry)
        for name, (content, mode) in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size, entry.mode = len(content), mode
            tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()
