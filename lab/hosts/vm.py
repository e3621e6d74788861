# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts of a kind with `vm`: the same disk and the same binds as a container's, booted by a kernel of their own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.hosts import network
from lab.hosts.paths import Paths
from lab.hosts.provision import Bind
from lab.hosts.site import Host, Site
from lab.vm import kernel, machine

SYSTEMD_STATE = ("systemctl", "is-system-running")


def show(binds: Sequence[Bind], root: Path) -> None:
    """Mount what the host sees of the machine below its root; an unmount of the root takes all of it away."""
    for bind in binds:
        place = root / bind.target.lstrip("/")
        if bind.source.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        _mount("--bind", str(bind.source), str(place))
        if not bind.writable:
            _mount("-o", "remount,bind,ro", str(place))


def argv(site: Site, host: Host, paths: Paths) -> list[str]:
    """The command that is the host."""
    assert host.kind.vm is not None
    taps = {site.mac(host.name, inside): outside for inside, (outside, _) in network.cables(host, paths).items()}
    plugged = machine.Network(taps, f"{site.ip(host.address)}/24", site.gateway)
    root, vm = paths.host(host.name).root, host.kind.vm
    return machine.boot(kernel.ensure(paths.cache), root, vm.cpus, vm.memory_mib, plugged)


def systemd_state(host: Host, paths: Paths, wait: bool, seconds: int) -> str:
    """What systemd says in the guest, over SSH; "unknown" when SSH does not answer."""
    command = ["ssh", "-F", str(paths.ssh_config), host.name, *SYSTEMD_STATE, *(["--wait"] if wait else [])]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return "starting"
    return done.stdout.strip() or "unknown"


def environment() -> dict[str, str]:
    """What QEMU needs of this process's environment."""
    return {"PATH": os.environ["PATH"]}


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"mount {' '.join(arguments)} said {done.stderr.strip()}: run lab down, then lab up")
