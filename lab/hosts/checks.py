# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Why a lab can't start on a machine: pure functions of the machine's facts, one sentence each with the way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network

from lab.hosts import requirements
from lab.hosts.machine import Machine
from lab.hosts.paths import Paths
from lab.hosts.site import Host

GIB = 1 << 30
IMAGE_DISK = 3 * GIB
HOST_DISK = GIB // 4
HOST_MEMORY = GIB // 4
# Seen: systemd, D-Bus and a login take 9; a kubelet with its containerd, or a control plane, up to 8 more.
INOTIFY_PER_HOST = 9
INOTIFY_PER_CLUSTER_HOST = 17
NOT_ROOT = "the lab boots systems with mounts and networks of their own, which takes root: run it with sudo"
UPPER_REFUSED = {"overlay", "nfs", "nfs4", "9p", "vfat", "exfat", "cifs", "virtiofs"}


@dataclass(frozen=True)
class Plan:
    """What the command would start: hosts that don't run yet."""

    paths: Paths
    starting: tuple[Host, ...]

    @property
    def hosts(self) -> int:
        """How many."""
        return len(self.starting)


Check = Callable[[Machine, Plan], str | None]


def refusals(machine: Machine, plan: Plan) -> list[str]:
    """All reasons at once, the ones that hide others first; empty when the lab can start."""
    return [sentence for check in CHECKS if (sentence := check(machine, plan))]


def needs_root(machine: Machine, plan: Plan) -> str | None:
    """Mounts, network namespaces and control groups belong to root."""
    if not machine.root:
        return NOT_ROOT
    return None


def needs_packages(machine: Machine, plan: Plan) -> str | None:
    """The lab's own tools."""
    if machine.missing:
        line = requirements.apt_line(machine.missing)
        return f"packages are missing ({' '.join(machine.missing)}): run lab requirements --install, or {line}"
    return None


def needs_kernel(machine: Machine, plan: Plan) -> str | None:
    """cgroup.kill came with Linux 5.14; without it something of the lab could survive `lab down`."""
    if machine.kernel < (5, 14):
        version = ".".join(map(str, machine.kernel))
        return f"the kernel is {version}, but the lab ends its hosts by cgroup.kill: boot Linux 5.14 or newer"
    return None


def needs_cgroup2(machine: Machine, plan: Plan) -> str | None:
    """v1-hybrid is enough, pure v1 isn't."""
    if not machine.cgroup2:
        return (
            "cgroup2 is mounted nowhere, but the lab ends its hosts through it: mount -t cgroup2 cgroup2 /sys/fs/cgroup"
        )
    return None


def needs_overlay(machine: Machine, plan: Plan) -> str | None:
    """All hosts share one tree."""
    if not machine.overlay:
        return "the kernel has no overlayfs, through which hosts share one image: load the module overlay"
    return None


def needs_veth(machine: Machine, plan: Plan) -> str | None:
    """Every cable is a veth pair."""
    if machine.root and not machine.missing and not machine.veth:
        return "the kernel makes no veth pairs, the lab's cables: load the module veth, or allow CAP_NET_ADMIN here"
    return None


def needs_upper(machine: Machine, plan: Plan) -> str | None:
    """overlayfs(5): the upper layer can't be on every file system."""
    if machine.state_filesystem in UPPER_REFUSED:
        where = f"{plan.paths.base} is on {machine.state_filesystem}"
        return f"{where}, which can't hold an overlay's upper layer: set LAB_STATE to a directory on ext4 or xfs"
    return None


def needs_state_disk(machine: Machine, plan: Plan) -> str | None:
    """Packages that roles install land in every host's own layer."""
    return _short("LAB_STATE", machine.state_free, plan.hosts * HOST_DISK, f"{plan.paths.base} for {plan.hosts} hosts")


def needs_cache_disk(machine: Machine, plan: Plan) -> str | None:
    """The image is built once."""
    need = 0 if machine.image_cached else IMAGE_DISK
    return _short("LAB_CACHE", machine.cache_free, need, f"{plan.paths.cache} to build the image")


def needs_memory(machine: Machine, plan: Plan) -> str | None:
    """Seen: a GPU node with its services takes about 200 MB. A virtual machine takes what it has."""
    need = sum(host.kind.vm.memory_mib << 20 if host.kind.vm else HOST_MEMORY for host in plan.starting)
    if machine.memory_free < need:
        have = f"{machine.memory_free / GIB:.1f} GiB of memory are free, {plan.hosts} hosts take {need / GIB:.1f}"
        return f"{have}: end something, or name fewer hosts (lab up ctl gpu01)"
    return None


def needs_inotify(machine: Machine, plan: Plan) -> str | None:
    """A guest beyond the limit silently stops half-way through its boot."""
    cluster = sum(bool(host.kind.kubelet) or host.kind.control_plane for host in plan.starting)
    need = cluster * INOTIFY_PER_CLUSTER_HOST + (plan.hosts - cluster) * INOTIFY_PER_HOST
    if machine.inotify_instances < machine.inotify_used + need:
        state = f"{machine.inotify_used} of {machine.inotify_instances} inotify instances are in use"
        raised = f"sysctl -w {requirements.INOTIFY}={requirements.INOTIFY_WANTED}"
        return f"{state} and {plan.hosts} hosts take {need} more: run lab requirements --install, or {raised}"
    return None


def needs_own_past(machine: Machine, plan: Plan) -> str | None:
    """Remains without a living lab come from a reboot or a kill."""
    if machine.lab_left and not machine.lab_alive:
        number = plan.paths.lab_id
        return f"lab {number} was left behind by a command that was cut short: run LAB_ID={number} lab/lab down"
    return None


def needs_subnet(machine: Machine, plan: Plan) -> str | None:
    """No other network may use the lab's addresses; a wider route (a company's 10/8) only yields to the lab's own."""
    number = plan.paths.lab_id
    subnet = IPv4Network(f"10.77.{number}.0/24")
    others = [
        *(link for link, addresses in machine.addresses.items() for a in addresses if a.network.overlaps(subnet)),
        *(device for destination, device in machine.routes.items() if IPv4Network(destination).subnet_of(subnet)),
    ]
    foreign = sorted({link for link in others if link != plan.paths.bridge})
    if foreign:
        return f"{subnet} is used by {foreign[0]}: choose another lab number, such as LAB_ID={(number + 1) % 100}"
    return None


def _short(variable: str, free: int, need: int, what: str) -> str | None:
    if free >= need:
        return None
    sizes = f"{need / GIB:.1f} GiB of disk, {free / GIB:.1f} are free"
    return f"{what} takes {sizes}: make room, or set {variable} to a directory elsewhere"


CHECKS: tuple[Check, ...] = (
    needs_root,
    needs_packages,
    needs_kernel,
    needs_cgroup2,
    needs_overlay,
    needs_veth,
    needs_upper,
    needs_state_disk,
    needs_cache_disk,
    needs_memory,
    needs_inotify,
    needs_own_past,
    needs_subnet,
)


def hybrid(machine_controllers: frozenset[str]) -> Iterator[str]:
    """What a person should know of a lab that runs, but not with everything that a real machine room has."""
    if not {"cpu", "memory"} <= machine_controllers:
        sentence = "cgroup2 has no CPU and memory controllers here (a v1-hybrid machine)"
        yield f"{sentence}: the lab runs without cgroup constraints"
