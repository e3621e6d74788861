# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine room (lab/site.yml, or one of lab/sites) as frozen values, and what follows from a lab's number."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from lab.errors import LabError

SITE_FILE = Path(__file__).resolve().parent.parent / "site.yml"
SITES = SITE_FILE.with_name("sites")

# The host end of a cable is named db<ID><host>r<rail> or s<port>, and Linux takes 15 characters.
NAME = re.compile(r"[a-z][a-z0-9]{0,8}")

Hardware = Mapping[str, Any]

BARE, JOINED = "bare", "joined"


@dataclass(frozen=True)
class Machine:
    """A virtual machine: processors and memory that are really there, a kernel of its own, and pretended GPUs.

    Each of its `sockets` is a NUMA node with the same number of processors and of GPUs. With `mig`, GPUs can be divided
    into instances.
    """

    cpus: int
    memory_mib: int
    gpus: int = 0
    sockets: int = 1
    gpu_vendor: str = "nvidia"
    mig: bool = False


@dataclass(frozen=True)
class Kind:
    """What hosts of one kind have in common. One with `vm` is a virtual machine, any other one a container.

    `kubelet`: `joined` (the site has made it a member), `bare` (ready for one, with nothing of it installed), or none.
    """

    name: str
    control_plane: bool = False
    kubelet: str = ""
    rails: int = 0
    stores: int = 0
    hardware: Hardware = field(default_factory=dict)
    vm: Machine | None = None

    @property
    def ports(self) -> tuple[str, ...]:
        """Its RDMA ports: rail0 and so on for GPUs, stor0 and so on for storage."""
        return tuple([f"rail{port}" for port in range(self.rails)] + [f"stor{port}" for port in range(self.stores)])


@dataclass(frozen=True)
class Host:
    """One lab host. `address` is the last octet. Its rails are plugged into `leaves`, equally many into each one.

    `port` is the first that it uses on each of them. Its storage ports are plugged into `stores` in the same way. A
    spare boots only when it is named.
    """

    name: str
    address: int
    kind: Kind
    leaves: tuple[str, ...] = ()
    port: int = 1
    stores: tuple[str, ...] = ()
    store_port: int = 1
    spare: bool = False

    def cables(self) -> list[tuple[str, int, str]]:
        """Switch, its port, and the host's port that is plugged in there."""
        return [
            *_spread(self.leaves, self.port, [f"rail{port}" for port in range(self.kind.rails)]),
            *_spread(self.stores, self.store_port, [f"stor{port}" for port in range(self.kind.stores)]),
        ]


def _spread(switches: Sequence[str], first: int, ports: Sequence[str]) -> list[tuple[str, int, str]]:
    if not switches:
        return []
    each = -(-len(ports) // len(switches))
    return [(switches[at // each], first + at % each, port) for at, port in enumerate(ports)]


@dataclass(frozen=True)
class Switch:
    """One emulated switch. `address` is the last octet; `uplinks` is own port -> (switch, its port)."""

    name: str
    address: int
    platform: str
    asic: str
    ports: int
    uplinks: Mapping[int, tuple[str, int]] = field(default_factory=dict)

    def port(self, number: int) -> str:
        """The system's name of a port."""
        start, first, step = PORTS[self.platform]
        return f"{start}{first + (number - 1) * step}"


PORTS = {
    **{"eos": ("Ethernet", 1, 1), "nvue": ("swp", 1, 1), "sonic": ("Ethernet", 0, 4)},
    **{"nxos": ("Ethernet1/", 1, 1), "junos": ("et-0/0/", 0, 1), "os10": ("ethernet1/1/", 1, 1)},
}
"""How names of ports begin, the number of the first one, and the distance between two, by system. SONiC names a port by
the first of its four lanes."""


@dataclass(frozen=True)
class User:
    """A person with the same uid on every host; `group` is the primary group's name."""

    name: str
    uid: int
    group: str


@dataclass(frozen=True)
class Selection:
    """The part of a site that a command is about."""

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]


@dataclass(frozen=True)
class Site:
    """The whole machine room of one lab."""

    lab_id: int
    hosts: Mapping[str, Host]
    switches: Mapping[str, Switch]
    groups: Mapping[str, int]
    users: Mapping[str, User]

    def ip(self, address: int) -> str:
        """The IPv4 address for a last octet."""
        return f"10.77.{self.lab_id}.{address}"

    @property
    def gateway(self) -> str:
        """The machine itself, as hosts and switches see it."""
        return self.ip(1)

    def addresses(self) -> dict[str, str]:
        """Name to IPv4 address of everything that can be reached, spares included."""
        return {name: self.ip(node.address) for name, node in {**self.hosts, **self.switches}.items()}

    def select(self, names: Iterable[str], kinds: Iterable[str] = ()) -> Selection:
        """The named hosts and switches, or all but the spares; of these the given kinds (a switch's is its platform).

        LabError for a name or kind that no host or switch has.
        """
        names, kinds = set(names), set(kinds)
        if unknown := sorted(names - self.hosts.keys() - self.switches.keys()):
            known = ", ".join([*self.hosts, *self.switches])
            raise LabError(f"nothing is called {unknown[0]}: lab/site.yml declares {known}")
        declared = {host.kind.name for host in self.hosts.values()} | {s.platform for s in self.switches.values()}
        if unknown := sorted(kinds - declared):
            raise LabError(f"nothing is of kind {unknown[0]}: lab/site.yml has {', '.join(sorted(declared))}")
        hosts = [host for host in self.hosts.values() if host.name in names or not (names or host.spare)]
        switches = [switch for switch in self.switches.values() if not names or switch.name in names]
        return Selection(
            tuple(host for host in hosts if not kinds or host.kind.name in kinds),
            tuple(switch for switch in switches if not kinds or switch.platform in kinds),
        )

    def mac(self, host: str, interface: str) -> str:
        """A locally administered MAC that stays the same over resets, so that no neighbour's ARP entry goes stale."""
        digest = uuid.uuid5(uuid.NAMESPACE_DNS, f"{interface}.{host}.lab{self.lab_id}").hex
        return "02:" + ":".join(digest[i : i + 2] for i in range(0, 10, 2))

    def machine_id(self, host: str) -> str:
        """The host's /etc/machine-id: 32 hex digits."""
        return uuid.uuid5(uuid.NAMESPACE_DNS, f"{host}.lab{self.lab_id}").hex


def file_of(name: str) -> Path:
    """The file of the site that LAB_SITE names; LabError if there is none."""
    path = SITES / f"{name}.yml" if name else SITE_FILE
    if not path.is_file():
        known = ", ".join(sorted(found.stem for found in SITES.glob("*.yml")))
        raise LabError(f"LAB_SITE is {name!r}, which lab/sites lacks: use one of {known}, or none")
    return path


def load(lab_id: int, path: Path = SITE_FILE, kubelets: str = "") -> Site:
    """Read a site file for one lab; LabError names the key that contradicts another.

    What the file lacks is as in lab/site.yml, and so are kinds of other names. `kubelets` is how hosts without a
    kubelet get theirs.
    """
    if kubelets not in ("", BARE, JOINED):
        raise LabError(f"LAB_KUBELETS is {kubelets!r}: set it to {BARE} or {JOINED}")
    base, own = yaml.safe_load(SITE_FILE.read_text()), yaml.safe_load(path.read_text())
    raw = {**base, **own, "kinds": {**base["kinds"], **own.get("kinds", {})}}
    kinds = {name: _kind(name, fields) for name, fields in raw["kinds"].items()}
    if kubelets:
        kinds = {
            name: replace(kind, kubelet=kubelets) if kind.kubelet == BARE else kind for name, kind in kinds.items()
        }
    site = Site(
        lab_id=lab_id,
        hosts={name: _host(name, fields, kinds) for name, fields in raw["hosts"].items()},
        switches={name: Switch(name, **fields) for name, fields in raw["switches"].items()},
        groups=raw["groups"],
        users={name: User(name, **fields) for name, fields in raw["users"].items()},
    )
    _check(site)
    return site


def _kind(name: str, fields: Mapping[str, Any]) -> Kind:
    if "vm" in fields and "hardware" in fields:
        raise LabError(f"kinds.{name} has vm and hardware: a virtual machine pretends nothing; remove one of the two")
    vm = Machine(**fields["vm"]) if "vm" in fields else None
    return Kind(name, **{**fields, "vm": vm})


def _host(name: str, fields: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Host:
    if fields["kind"] not in kinds:
        raise LabError(f"hosts.{name}.kind is {fields['kind']}, which kinds lacks: use one of {', '.join(kinds)}")
    plugged = {key: tuple(fields.get(key, ())) for key in ("leaves", "stores")}
    return Host(name, **{**fields, **plugged, "kind": kinds[fields["kind"]]})


def _check(site: Site) -> None:
    taken: dict[int, str] = {1: "the machine itself"}
    for node in (*site.hosts.values(), *site.switches.values()):
        if not NAME.fullmatch(node.name):
            raise LabError(f"{node.name} can't name a host: use at most nine of a-z and 0-9, beginning with a letter")
        if not 2 <= node.address <= 254:
            raise LabError(f"{node.name}.address is {node.address}, no host part of a /24: use 2 to 254")
        if node.address in taken:
            raise LabError(f"{node.name}.address is {node.address}, which {taken[node.address]} has: use a free one")
        taken[node.address] = node.name
    for host in site.hosts.values():
        for switch, port, inside in host.cables():
            if switch not in site.switches:
                known = ", ".join(site.switches)
                raise LabError(f"{host.name} is plugged into {switch}, which switches lacks: use one of {known}")
            if not 1 <= port <= site.switches[switch].ports:
                ports = site.switches[switch].ports
                raise LabError(f"{host.name}.{inside} is plugged into port {port}, but {switch} has {ports} ports")
