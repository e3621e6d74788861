# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An NFS client on a kernel without NFS: mount.nfs, `nfsstat -m` and stat of mount points.

A mount is a bind mount of a folder that all hosts share, so that umount, its refusals and files are real. Texts and
exit codes are those of nfs-utils 2.6 (utils/mount, utils/nfsstat) and coreutils. The rest of stat is real.

mount.nfs refuses, hangs, lies (exit code 0, no mount) or drifts (another version). stat refuses (stale file handle) or
hangs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ..common import DRIFT, HANG, LIE, REFUSE, Call, Device, host_device, procfs, shared_directory

EXPORTS = "exports"
"""Below the folder that all hosts share: SERVER/path/of/export."""
EX_FAIL = 32
REAL_STAT = "/usr/bin/stat"
NEGOTIATED = "rsize=1048576,wsize=1048576,namlen=255"


def main(name: str, argv: list[str]) -> int:
    """Run one of the commands."""
    device = host_device("nfs")
    if name == "stat":
        return _stat(device, argv)
    with Call(device, name, argv) as call:
        call.rc = _mount(call, argv) if name.startswith("mount") else _nfsstat(call)
    return call.rc or 0


def _mount(call: Call, argv: list[str]) -> int:
    """mount.nfs SOURCE DIRECTORY -o OPTIONS"""
    words = argv[argv.index("-o") + 1].split(",") if "-o" in argv else []
    source, path = [word for word in argv if ":/" in word or word.startswith("/")][:2]
    effect = call.fault(writes=True, among=(REFUSE, HANG, LIE, DRIFT))
    if effect == LIE:
        return 0
    server, _, export = source.partition(":")
    root = shared_directory() / EXPORTS / server
    if not root.is_dir():
        return _failed(f"Failed to resolve server {server}: Name or service not known")
    if effect == REFUSE:
        return _failed(f"access denied by server while mounting {source}")
    if not (root / export.lstrip("/")).is_dir():
        return _failed(f"mounting {source} failed, reason given by server: No such file or directory")
    subprocess.run(["/usr/bin/mount", "--bind", str(root / export.lstrip("/")), path], check=True)
    if "ro" in words:
        subprocess.run(["/usr/bin/mount", "-o", "remount,bind,ro", path], check=True)
    with call.device.state({"mounts": {}}) as state:
        state["mounts"][path] = {"source": source, "flags": _flags(words, effect == DRIFT)}
    return 0


def _flags(words: list[str], drift: bool) -> str:
    """As the kernel shows a mount; one connection is not shown."""
    given = {name: value for name, _, value in (word.partition("=") for word in words)}
    version = "4.1" if drift else given.get("vers", "4.2")
    connections = given.get("nconnect", "1")
    return ",".join(
        [
            "ro" if "ro" in given else "rw",
            "noatime" if "noatime" in given else "relatime",
            f"vers={version}",
            NEGOTIATED,
            "soft" if "soft" in given else "hard",
            f"proto={given.get('proto', 'tcp')}",
            *([] if connections == "1" else [f"nconnect={connections}"]),
            "timeo=600,retrans=2,sec=sys,local_lock=none",
        ]
    )


def _failed(text: str) -> int:
    print(f"mount.nfs: {text}", file=sys.stderr)
    return EX_FAIL


def _nfsstat(call: Call) -> int:
    """nfsstat -m: the mounts that still exist."""
    if call.fault(writes=False) == REFUSE:
        print("nfsstat: /proc/mounts: Permission denied", file=sys.stderr)
        return 1
    for path, mount in _mounts(call.device).items():
        print(f"{path} from {mount['source']}\n Flags:\t{mount['flags']}\n")
    return 0


def _mounts(device: Device) -> dict[str, dict[str, str]]:
    there = {line.split()[4] for line in (procfs() / "self/mountinfo").read_text().splitlines()}
    with device.state({"mounts": {}}) as state:
        return {path: mount for path, mount in state["mounts"].items() if path in there}


def _stat(device: Device, argv: list[str]) -> int:
    """stat of an NFS mount point, journalled; all other calls are the real stat's."""
    path = argv[-1] if argv else ""
    if not (device.directory / "state.json").exists() or path not in _mounts(device):
        os.execv(REAL_STAT, ["stat", *argv])
    with Call(device, "stat", argv) as call:
        if call.fault(writes=False) == REFUSE:
            text = f"stat: cannot read file system information for '{path}': Stale file handle"
            print(text, file=sys.stderr)
            call.rc = 1
        else:
            call.rc = subprocess.run([REAL_STAT, *argv], check=False).returncode
    return call.rc or 0


def export(shared: Path, server: str, path: str) -> Path:
    """Make an export of a server."""
    place = shared / EXPORTS / server / path.lstrip("/")
    place.mkdir(parents=True, exist_ok=True)
    return place
