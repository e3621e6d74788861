# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Hosts of a kind with `vm`: the same disk and the same binds as a container's, booted by a kernel of their own."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.hosts import network
from lab.hosts.paths import Paths
from lab.hosts.provision import Bind
from lab.hosts.site import Host, Site
from lab.vm import kernel, machine, packages

VOLUME = "16G"  # sparse: it takes what the guest writes
# An emulated processor on a machine with much else to do.
BOOT_SECONDS = 1800
NO_CONNECTION, PAUSE_S = 255, 1
SYSTEMD_STATE = ("systemctl", "is-system-running")


def lower_layers(tree: Path, paths: Paths) -> str:
    """What lies below its disk: the kernel's modules and further packages above the tree that all hosts share."""
    return f"{kernel.ensure(paths.cache).layer}:{packages.ensure(paths.cache, tree)}:{tree}"


def show(binds: Sequence[Bind], root: Path) -> None:
    """Mount what the host reads of the machine below its root; an unmount of the root takes all of it away."""
    for bind in binds:
        place = root / bind.target.lstrip("/")
        if bind.source.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        if not bind.writable:
            _run("mount", "--bind", str(bind.source), str(place))


def argv(site: Site, host: Host, paths: Paths, binds: Sequence[Bind]) -> list[str]:
    """The command that is the host; makes its disk when it has none."""
    assert host.kind.vm is not None
    places, vm = paths.host(host.name), host.kind.vm
    if not places.volume.exists():
        _run("mke2fs", "-q", "-t", "ext4", str(places.volume), VOLUME)
    taps = {site.mac(host.name, inside): outside for inside, (outside, _) in network.cables(host, paths).items()}
    plugged = machine.Network(taps, f"{site.ip(host.address)}/24", site.gateway)
    root = machine.Root(places.root, places.volume, {bind.target: bind.source for bind in binds if bind.writable})
    return machine.boot(kernel.ensure(paths.cache), root, vm.cpus, vm.memory_mib, plugged, vm.sockets)


def systemd_state(host: Host, paths: Paths, wait: bool, seconds: int) -> str:
    """What systemd says in the guest, over SSH: "unknown" without an answer, "starting" when it takes too long."""
    # a kept connection would be lost at the guest's next boot
    ssh = ["ssh", "-F", str(paths.ssh_config), "-o", "ControlPath=none", host.name]
    command = [*ssh, *SYSTEMD_STATE, *(["--wait"] if wait else [])]
    deadline = time.monotonic() + seconds
    while True:
        left = deadline - time.monotonic()
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=left
            )
        except subprocess.TimeoutExpired:
            return "starting"
        # a guest that boots on a busy machine accepts a connection long before it answers
        if done.returncode != NO_CONNECTION or not wait or time.monotonic() + PAUSE_S > deadline:
            return done.stdout.strip() or "unknown"
        time.sleep(PAUSE_S)


def environment() -> dict[str, str]:
    """What QEMU needs of this process's environment."""
    return {"PATH": os.environ["PATH"]}


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(command)} said {done.stderr.strip()}: run lab down, then lab up")
