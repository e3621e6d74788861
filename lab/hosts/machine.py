# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the machine that the lab shall run on, changing nothing. What follows from it is in checks.py."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from ipaddress import IPv4Interface
from pathlib import Path

from lab.hosts import cgroups, requirements
from lab.hosts.paths import Paths


@dataclass(frozen=True)
class Machine:
    """Facts, gathered at one moment."""

    root: bool
    missing: tuple[str, ...]
    """Packages that aren't installed."""
    kernel: tuple[int, int]
    cgroup2: bool
    overlay: bool
    veth: bool
    state_filesystem: str
    """Type of the file system that LAB_STATE is on."""
    state_free: int
    """Bytes."""
    cache_free: int
    """Bytes."""
    memory_free: int
    """Bytes that the kernel could give without swapping."""
    addresses: dict[str, tuple[IPv4Interface, ...]]
    """By the name of every link."""
    routes: dict[str, str]
    """Destination to device; without the default route."""
    inotify_instances: int
    inotify_used: int
    """Instances that root's processes hold, guests' included."""
    image_cached: bool
    lab_alive: bool
    lab_left: bool
    """Files or bridges of this lab exist."""


def look(paths: Paths, image_cached: bool, lab_alive: bool, vms: bool = False) -> Machine:
    """Gather all facts; asks the kernel and the file system only."""
    links = _links() if shutil.which("ip") else {}
    return Machine(
        root=os.geteuid() == 0,
        missing=requirements.missing(not image_cached, vms),
        kernel=kernel(os.uname().release),
        cgroup2=cgroups.hierarchy(Path("/proc/self/mountinfo").read_text()) is not None,
        overlay=_overlay(),
        veth=_veth(),
        state_filesystem=filesystem(_existing(paths.base), Path("/proc/self/mountinfo").read_text()),
        state_free=shutil.disk_usage(_existing(paths.base)).free,
        cache_free=shutil.disk_usage(_existing(paths.cache)).free,
        memory_free=available(Path("/proc/meminfo").read_text()),
        addresses=links,
        routes=_routes() if links else {},
        inotify_instances=int(Path("/proc/sys/fs/inotify/max_user_instances").read_text()),
        inotify_used=_inotify_used(),
        image_cached=image_cached,
        lab_alive=lab_alive,
        lab_left=paths.state.exists() or paths.bridge in links or paths.fabric in links,
    )


def kernel(release: str) -> tuple[int, int]:
    """Major and minor version, from `uname -r`."""
    found = re.match(r"(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def available(meminfo: str) -> int:
    """Bytes of MemAvailable, from the text of /proc/meminfo."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


def filesystem(path: Path, mountinfo: str) -> str:
    """The type of the file system that holds `path`, from the text of /proc/self/mountinfo."""
    best, kind = Path("/"), "unknown"
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        point = Path(before.split()[4])
        if (point == path or point in path.parents) and len(point.parts) >= len(best.parts):
            best, kind = point, after.split()[0]
    return kind


def _existing(path: Path) -> Path:
    return next(parent for parent in (path, *path.parents) if parent.exists())


def _overlay() -> bool:
    if re.search(r"\boverlay$", Path("/proc/filesystems").read_text(), re.MULTILINE):
        return True
    return _succeeds("modprobe", "--quiet", "--dry-run", "overlay")


def _veth() -> bool:
    """Whether the kernel makes veth pairs, tried in a network namespace that ends with the try."""
    return _succeeds("unshare", "--net", "ip", "link", "add", "probe", "type", "veth")


def _succeeds(*command: str) -> bool:
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False, timeout=120).returncode == 0


def _ip(*arguments: str) -> list[dict]:
    return json.loads(subprocess.run(["ip", "-json", *arguments], capture_output=True, check=True, text=True).stdout)


def _links() -> dict[str, tuple[IPv4Interface, ...]]:
    return {
        link["ifname"]: tuple(
            IPv4Interface(f"{address['local']}/{address['prefixlen']}")
            for address in link.get("addr_info", [])
            if address["family"] == "inet"
        )
        for link in _ip("address", "show")
    }


def _routes() -> dict[str, str]:
    routes = _ip("-4", "route", "show", "table", "main")
    return {route["dst"]: route.get("dev", "?") for route in routes if route["dst"] != "default"}


def _inotify_used() -> int:
    """What counts against fs.inotify.max_user_instances: the kernel itself doesn't tell."""
    found = 0
    for descriptor in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            found += str(descriptor.readlink()) == "anon_inode:inotify"
    return found
