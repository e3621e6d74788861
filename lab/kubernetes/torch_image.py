# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A pod image with Debian's PyTorch for CPUs, with torchrun and Gloo.  Built on demand and kept in the lab's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from lab.errors import LabError
from lab.hosts.requirements import apt_line, missing
from lab.image import recipe
from lab.image.build import why
from lab.kubernetes import oci

NAME = "docker.io/lab/torch:2"
PACKAGES = ("python3-torch",)
COMMAND = ("python3",)
SLIM = recipe.HERE / "files/etc/dpkg/dpkg.cfg.d/lab"
SHAPE = Path(__file__).with_name("torch-tree")
RECIPE = (Path(__file__), SHAPE, Path(oci.__file__), SLIM)
LIBRARIES = "/usr/lib/python3/dist-packages"
# A compiler for AMD's GPUs, which UCX could load, and tests. py3compile fails where a file is missing; SHAPE compiles.
NOT_NEEDED = (
    "/usr/bin/py3compile",
    "/usr/lib/x86_64-linux-gnu/libLLVM*",
    "/usr/lib/x86_64-linux-gnu/libamd_comgr*",
    "/usr/lib/x86_64-linux-gnu/libamdhip64*",
    "/usr/lib/libtorch-test/*",
    f"{LIBRARIES}/torch/bin/*test*",
    f"{LIBRARIES}/torch/bin/*Test*",
    f"{LIBRARIES}/networkx/*/tests/*",
    f"{LIBRARIES}/numpy/*/tests/*",
    f"{LIBRARIES}/sympy/*/tests/*",
    "/usr/share/doc/*",
    "/usr/share/icons/*",
)


def ensure(cache: Path, say: Callable[[str], None]) -> Path:
    """Return the image's archive, and build it if the cache has none.  Raises LabError."""
    done = cache / "torch-image" / f"{key()}.tar"
    done.parent.mkdir(parents=True, exist_ok=True)
    with (done.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file():
            for left in done.parent.glob(".writing-*"):
                shutil.rmtree(left)
            with tempfile.TemporaryDirectory(prefix=".writing-", dir=done.parent) as work:
                _write(Path(work), say).rename(done)
    return done


def key() -> str:
    """Sixteen hex digits that change when Debian's suite or a file that shapes the image changes."""
    parts = (recipe.packages()["suite"].encode(), *(path.read_bytes() for path in RECIPE))
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _write(work: Path, say: Callable[[str], None]) -> Path:
    if packages := missing(build_image=True):
        raise LabError(f"a Debian tree can't be built without {', '.join(packages)}: {apt_line(packages)}")
    say("building a pod image with PyTorch from Debian's packages (once; minutes, and 3 GB of disk)")
    layer, archive = work / "layer.tar", work / "archive.tar"
    done = subprocess.run(builder(layer), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise LabError(f"the pod image with PyTorch could not be built, {why(done.stderr)}")
    oci.write(archive, NAME, COMMAND, layer)
    say(f"the pod image with PyTorch has {archive.stat().st_size >> 20} MiB")
    return archive


def builder(layer: Path) -> Sequence[str]:
    """mmdebstrap(1) for one tar without /dev. LAB_MIRROR names a mirror other than the builder's own choice."""
    return [
        *("mmdebstrap", "--mode=root", "--variant=essential", "--format=tar", "--skip=output/dev"),
        *("--include=" + ",".join(PACKAGES), '--aptopt=APT::Install-Recommends "false"'),
        *('--aptopt=Acquire::Languages "none"', f"--dpkgopt={SLIM}"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in NOT_NEEDED),
        f"--customize-hook={SHAPE}",
        *(recipe.packages()["suite"], str(layer)),
        *filter(None, [os.environ.get("LAB_MIRROR")]),
    ]
