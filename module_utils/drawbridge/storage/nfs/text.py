# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NFS mounts as text: systemd units, the table of `nfsstat -m`, and what a failed mount wrote to its journal.

`nfsstat -m` prints three lines a mount, of which the last is empty (nfs-utils 2.6):

    /data from filer:/export/data
     Flags:	rw,relatime,vers=4.2,rsize=1048576,hard,proto=tcp,nconnect=8,timeo=600,addr=10.0.0.5
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .model import Export

MARK = "# Managed by Drawbridge: nfs"
"""First line of Drawbridge's mount units; other units are the site's."""
OWNED = ("vers", "proto", "nconnect")
_MOUNT = re.compile(r"(?P<path>/\S*) from (?P<source>\S+)\n Flags:\s*(?P<flags>\S+)")
_OF_SYSTEMD = {
    "ounting timed out": "the server gave no answer in time",
    "but there is no mount": "mount.nfs reported success, but there is no mount",
}
"""What systemd writes where mount.nfs and umount write nothing."""
REPAIRS = {
    "access denied by server": "add this node to the server's exports",
    "Failed to resolve server": "correct server in drawbridge_nfs.mounts, or this node's name service",
    "No such file or directory": "correct export in drawbridge_nfs.mounts, or make it on the server",
    "no answer in time": "check the server and the network to it",
    "there is no mount": "look for the reason in this node's kernel log: journalctl --dmesg",
    "target is busy": "end what uses it, such as another mount below it",
}
_CAUSE = re.compile(r"^(?:mount\.nfs4?|mount|umount): (?:/\S*: )?(.+)$", re.MULTILINE)


def source(export: Export) -> str:
    """Server and path, as mount(8) and the kernel write them."""
    return f"{export.server}:{export.export}"


def options(export: Export) -> str:
    """The options of one mount, separated by commas."""
    return ",".join(
        [
            "ro" if export.read_only else "rw",
            f"vers={export.version}",
            f"proto={export.transport}",
            f"nconnect={export.nconnect}",
            "hard",
            *export.options,
        ]
    )


def owned(flags: str) -> Mapping[str, str]:
    """The options that the kernel must show as they are wanted, from a list separated by commas.

    The kernel shows no nconnect for one connection, and tcp6 for a server with an IPv6 address.
    """
    words = flags.split(",")
    values = {name: value for name, _sep, value in (word.partition("=") for word in words)}
    found = {"mode": "ro" if "ro" in words else "rw", "loss": "hard" if "hard" in words else "soft"}
    shown = {name: values.get(name, "1" if name == "nconnect" else "none") for name in OWNED}
    return {**found, **shown, "proto": shown["proto"].removesuffix("6")}


def table(text: str) -> dict[str, tuple[str, str]]:
    """Source and flags by mount point. Of two mounts at one place the last is the one that is seen."""
    return {found["path"]: (found["source"], found["flags"]) for found in _MOUNT.finditer(text)}


def mount_points(mountinfo: str) -> set[str]:
    """All mount points of /proc/self/mountinfo."""
    return {line.split()[4] for line in mountinfo.splitlines()}


def unit_name(path: str, suffix: str = "mount") -> str:
    """The name that systemd gives to the unit of a mount point, as `systemd-escape --path` prints it."""
    words = path.strip("/")
    escaped = "".join(_escaped(letter, first=index == 0) for index, letter in enumerate(words))
    return f"{escaped}.{suffix}"


def _escaped(letter: str, first: bool) -> str:
    if letter == "/":
        return "-"
    if letter.isascii() and (letter.isalnum() or letter in ":_" or (letter == "." and not first)):
        return letter
    return "".join(f"\\x{byte:02x}" for byte in letter.encode())


def mount_unit(export: Export, wait_s: int) -> str:
    """A mount unit. It is started by drawbridge-nfs.service alone, so a server that hangs holds up nothing else."""
    return (
        # of its own: systemd drops the default one when the mounted device looks local, and then waits permanently
        f"{MARK}\n[Unit]\nDescription=NFS {source(export)}\nBefore=remote-fs.target\n\n"
        f"[Mount]\nWhat={source(export)}\nWhere={export.mount}\nType=nfs\nOptions={options(export)}\n"
        f"TimeoutSec={wait_s}\n"
    )


def place_of(unit: str) -> str:
    """The mount point of one of Drawbridge's mount units; empty for a unit of the site."""
    found = re.search(r"^Where=(/\S+)$", unit, re.MULTILINE)
    return found[1] if found and unit.startswith(MARK) else ""


def service(paths: Sequence[str], wait_s: int) -> str:
    """The unit that mounts all at boot. It fails if one can't be mounted, and tries again every 30 seconds.

    `After=` makes systemd unmount after slurmd and kubelet have stopped. systemctl takes paths for unit names.
    """
    after = "".join(f" {unit_name(path)}" for path in paths)
    start = f"/usr/bin/systemctl start {' '.join(paths)}" if paths else "/usr/bin/true"
    return (
        "# Managed by Drawbridge\n[Unit]\nDescription=NFS mounts, before slurmd and kubelet\n"
        f"Wants=network-online.target\nAfter=network-online.target{after}\nStartLimitIntervalSec=0\n\n"
        f"[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart={start}\n"
        f"TimeoutStartSec={2 * wait_s + 30}\nRestart=on-failure\nRestartSec=30\n"
    )


def cause(journal: str) -> str:
    """What mount.nfs or umount wrote last, else what systemd wrote about them; empty if nothing."""
    if found := _CAUSE.findall(journal):
        return found[-1].rstrip(".")
    return next((words for written, words in _OF_SYSTEMD.items() if written in journal), "")


def advised(why: str) -> str:
    """A cause with its repair, if that is known."""
    repair = next((words for known, words in REPAIRS.items() if known in why), "")
    return f"{why}; {repair}" if repair else why
