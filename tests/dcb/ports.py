# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A virtual machine with the driver's ports, the collection's module, and steps to take there."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ansible

from lab.errors import LabError
from lab.hosts.paths import REPOSITORY, Paths
from lab.image import recipe
from tests.guest import boot

HERE = Path(__file__).parent
COLLECTION = "ansible_collections/drawbridge/drawbridge/plugins"
PYTHON_ONLY = shutil.ignore_patterns("__pycache__")
SOURCES = HERE / "driver"
BUILT = "dcb_ports.ko"

Step = list[str] | dict[str, Any]


def run(folder: Path, steps: Mapping[str, Step]) -> dict[str, Any]:
    """Take the steps one after another in one guest; their results by name."""
    system = boot.debian()
    layer = folder / "layer"
    place(layer / "srv/dcb", steps)
    shutil.copy(driver(system), layer / "srv/dcb/dcb_ports.ko")
    results = folder / "results"
    above = replace(system, layers=(layer, *system.layers))
    guest = boot.start(above, folder / "guest", HERE / "ports.sh", devices=("-serial", f"file:{results}"))
    boot.end(guest, patience_s=boot.LIMIT_S)
    printed = results.read_text()
    assert printed, (folder / "guest/console").read_text()
    return dict(zip(steps, json.loads(printed), strict=True))


def place(target: Path, steps: Mapping[str, Step]) -> None:
    """Write the steps, the module with all that it imports, and the program that takes the steps."""
    ours = Path(ansible.__path__[0])
    shutil.copytree(ours / "module_utils", target / "ansible/module_utils", ignore=PYTHON_ONLY)
    shutil.copy(ours / "release.py", target / "ansible")
    (target / "ansible/__init__.py").touch()
    plugins = target / COLLECTION
    shutil.copytree(REPOSITORY / "module_utils", plugins / "module_utils", ignore=PYTHON_ONLY)
    (plugins / "modules").mkdir()
    shutil.copy(REPOSITORY / "library/mlnx_qos.py", plugins / "modules")
    shutil.copy(HERE / "take.py", target)
    (target / "steps.json").write_text(json.dumps(list(steps.values())))


def driver(system: boot.Debian) -> Path:
    """The kernel module, built with Debian's own compiler when the cache has none for this kernel. Raises LabError."""
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
