# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A flat Debian package repository: the index files that apt reads beside a directory of .deb files.

Format: Debian policy chapter 5 (control fields) and the Debian repository format (Packages, Release).
"""

from __future__ import annotations

import email.utils
import hashlib
import subprocess
from pathlib import Path


def stanza(control: str, name: str, content: bytes) -> str:
    """One package's paragraph of Packages: its own control fields and where and what its file is."""
    digest = hashlib.sha256(content).hexdigest()
    return f"{control.rstrip()}\nFilename: ./{name}\nSize: {len(content)}\nSHA256: {digest}\n"


def release(packages: bytes, seconds: float) -> str:
    """The Release file for one Packages file written at `seconds` since the epoch."""
    date = email.utils.formatdate(seconds, usegmt=True).replace("GMT", "UTC")
    digest = hashlib.sha256(packages).hexdigest()
    return f"Origin: Drawbridge lab\nDate: {date}\nSHA256:\n {digest} {len(packages)} Packages\n"


def control_of(deb: Path, tree: Path) -> str:
    """The control fields of a .deb; read by the dpkg of `tree`, so that the machine needs none."""
    argv = ["chroot", str(tree), "dpkg-deb", "--field", "-"]
    with deb.open("rb") as file:
        return subprocess.run(argv, stdin=file, check=True, capture_output=True, text=True).stdout


def index(directory: Path, tree: Path) -> int:
    """Write Packages and Release for all .deb files in `directory`; returns how many there are."""
    debs = sorted(directory.glob("*.deb"))
    text = "\n".join(stanza(control_of(deb, tree), deb.name, deb.read_bytes()) for deb in debs)
    packages = text.encode()
    (directory / "Packages").write_bytes(packages)
    (directory / "Release").write_text(release(packages, directory.stat().st_mtime))
    return len(debs)
