# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install the pretended machine into a host that runs a kubelet, or that pretends to be other hardware."""

from __future__ import annotations

from pathlib import Path

from lab.hosts.paths import Paths
from lab.hosts.provision import Bind, Context
from lab.hosts.site import Kind, Site
from lab.machine import build
from lab.machine.hardware import Hardware

MACHINE = "/usr/lib/lab/machine"
GUEST = build.HERE / "guest"


def prepare(site: Site, paths: Paths) -> None:
    """Write every machine that the site's hosts pretend to be."""
    for kind in {host.kind.name: host.kind for host in site.hosts.values() if _pretends(host.kind)}.values():
        build.ensure(paths.cache, hardware_of(kind))


def provision(context: Context) -> None:
    """Write the boot-time unit and slurmd's environment, and show the guest its trees."""
    if not _pretends(context.host.kind):
        return
    hardware = hardware_of(context.host.kind)
    show(context, build.ensure(context.paths.cache, hardware))
    if hardware:
        context.write("/etc/systemd/system/slurmd.service.d/lab-machine.conf", slurmd_drop_in(hardware))


def show(context: Context, machine: Path) -> None:
    """Let the guest mount a machine's trees at each boot."""
    context.binds.append(Bind(machine, MACHINE))
    context.write("/usr/lib/lab/lab-machine", (GUEST / "lab-machine").read_text(), 0o755)
    context.write("/etc/systemd/system/lab-machine.service", (GUEST / "lab-machine.service").read_text())
    context.enable("lab-machine.service", "sysinit.target")


def _pretends(kind: Kind) -> bool:
    """A virtual machine is what it is."""
    return bool(kind.kubelet or kind.hardware) and kind.vm is None


def hardware_of(kind: Kind) -> Hardware | None:
    """Return what a kind's hosts pretend to be; None means: what they are."""
    return Hardware.of(kind.hardware) if kind.hardware else None


def slurmd_drop_in(hardware: Hardware) -> str:
    """Show slurmd the pretended machine.

    `slurmd` prefers its own cache, hwloc_topo_whole.xml in SlurmdSpoolDir, to anything else. A host whose hardware
    changes needs that file removed, here as in a machine room.
    """
    environment = {
        "HWLOC_XMLFILE": "/run/lab/topology.xml",
        "LD_PRELOAD": f"{MACHINE}/memory.so",
        "LAB_MEMORY_KB": hardware.memory_kb,
        "LAB_CPUS": hardware.cpus,
    }
    lines = [f"Environment={name}={value}" for name, value in environment.items()]
    return "\n".join(["# The lab's stand-in for hardware: see lab/machine.", "[Service]", *lines, ""])
