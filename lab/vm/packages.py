# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A layer with packages that a virtual machine has from the start, as in a site's own image; built once.

An emulated processor needs a quarter of an hour to install them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from lab.errors import LabError

PACKAGES = (
    "libpam-slurm-adopt",
    "munge",
    "nfs-common",
    "nfs-kernel-server",
    "perftest",
    "rdma-core",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-nvml-plugin",
    "slurmd",
)
SCRIPT = """\
mount -t overlay vm -o "lowerdir=$1,upperdir=$2,workdir=$3" "$4"
mount --bind "$5" "$4/srv/lab/apt"
mount -t proc proc "$4/proc"
printf '#!/bin/sh\\nexit 101\\n' > "$4/usr/sbin/policy-rc.d"
chmod 755 "$4/usr/sbin/policy-rc.d"
root=$4
shift 5
export DEBIAN_FRONTEND=noninteractive
chroot "$root" apt-get --quiet update
chroot "$root" apt-get --quiet --yes --no-install-recommends install "$@"
# roles start them, with their own files
systemctl --root="$root" --quiet disable munge.service slurmd.service nfs-server.service
rm "$root/usr/sbin/policy-rc.d" "$root/etc/munge/munge.key"
"""
"""Arguments: the tree, the layer, a work directory, a mount point, the repository, the packages."""


def key(tree: Path) -> str:
    """Sixteen hex digits that change when what shapes the layer changes; the tree's directory has its recipe's name."""
    text = "\0".join([tree.parent.name, Path(__file__).read_text()])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def ensure(cache: Path, tree: Path) -> Path:
    """The layer above an image's tree; builds it when the cache has none (LabError when that fails)."""
    final = cache / "vm" / f"packages-{key(tree)}"
    if final.is_dir():
        return final
    partial = final.with_name(f"{final.name}.{os.getpid()}.partial")
    places = [partial / name for name in ("layer", "work", "root")]
    for place in places:
        place.mkdir(parents=True)
    try:
        _install(tree, places)
        places[0].rename(final)
    except OSError:
        if not final.is_dir():  # another process was faster
            raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return final


def _install(tree: Path, places: list[Path]) -> None:
    # its mounts end with it
    alone = ["unshare", "--mount", "--propagation=private", "sh", "-ec", SCRIPT, "sh"]
    argv = [*alone, str(tree), *map(str, places), str(tree.parent / "apt"), *PACKAGES]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        last = "; ".join(done.stderr.splitlines()[-3:])
        raise LabError(f"the packages of virtual machines could not be installed: apt-get said {last}; try again")
