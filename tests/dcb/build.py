# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Build the driver against the headers of a kernel, with Debian's own compiler; once for each kernel."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.image import recipe
from tests.guest.boot import Debian

SOURCES = Path(__file__).parent / "driver"
BUILT = "dcb_ports.ko"


def driver(system: Debian) -> Path:
    """The kernel module; builds it when the cache has none (LabError when that fails)."""
    text = "\0".join([system.release, *(path.read_text() for path in sorted(SOURCES.iterdir()))])
    final = Paths.of().cache / "vm" / f"dcb-{hashlib.sha256(text.encode()).hexdigest()[:16]}.ko"
    if final.exists():
        return final
    with tempfile.TemporaryDirectory(dir=final.parent) as scratch:
        _build(system.release, Path(scratch))
        Path(scratch, BUILT).rename(final)
    return final


def _build(release: str, target: Path) -> None:
    mirror = os.environ.get("LAB_MIRROR")
    headers = f"linux-headers-{release}"
    argv = [
        *("mmdebstrap", "--quiet", "--mode=root", "--variant=apt", "--format=null"),
        *(f"--include={headers},make", '--aptopt=APT::Install-Recommends "false"'),
        *("--dpkgopt=force-unsafe-io", "--dpkgopt=path-exclude=/usr/share/doc/*"),
        f"--customize-hook=sync-in {SOURCES} /srv",
        f'--customize-hook=chroot "$1" make -C /usr/src/{headers} M=/srv modules',
        f"--customize-hook=copy-out /srv/{BUILT} {target}",
        *(recipe.packages()["suite"], "/dev/null", *([mirror] if mirror else [])),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = "; ".join(done.stderr.splitlines()[-3:])
        raise LabError(
            f"the driver for Linux {release} could not be built: mmdebstrap said {last};"
            " if the mirror has no headers for this kernel any more, remove it from the lab's cache and try again"
        )
