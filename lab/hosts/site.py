# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The machine room (lab/site.yml) as frozen values, and what follows from a lab's number."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from lab.errors import LabError

SITE_FILE = Path(__file__).resolve().parent.parent / "site.yml"

# The host end of a cable is named db<ID><host>r<rail>, and Linux takes 15 characters.
NAME = re.compile(r"[a-z][a-z0-9]{0,8}")

Hardware = Mapping[str, Any]

BARE, JOINED = "bare", "joined"


@dataclass(frozen=True)
class Kind:
    """What hosts of one kind have in common.

    `kubelet`: `joined` (the site has made it a member), `bare` (ready for one, with nothing of it installed), or none.
    """

    name: str
    control_plane: bool = False
    kubelet: str = ""
    rails: int = 0
    hardware: Hardware = field(default_factory=dict)


@dataclass(frozen=True)
class Host:
    """One lab host. `address` is the last octet; `port` is where rail0 is plugged into `leaf`.

    A spare boots only when it is named.
    """

    name: str
    address: int
    kind: Kind
    leaf: str | None = None
    port: int = 1
    spare: bool = False


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
        return f"{PORTS[self.platform]}{number}"


PORTS = {"eos": "Ethernet", "nvue": "swp"}
"""How names of ports begin, by system."""


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

        LabError for a name or kind that nobody declared.
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


def load(lab_id: int, path: Path = SITE_FILE, kubelets: str = "") -> Site:
    """Read a site file for one lab; LabError names the key that contradicts another.

    `kubelets` is how hosts with GPUs have theirs, instead of what the file says.
    """
    if kubelets not in ("", BARE, JOINED):
        raise LabError(f"LAB_KUBELETS is {kubelets!r}: set it to {BARE} or {JOINED}")
    raw = yaml.safe_load(path.read_text())
    kinds = {name: Kind(name, **fields) for name, fields in raw["kinds"].items()}
    kinds = {name: replace(kind, kubelet=(kind.hardware and kubelets) or kind.kubelet) for name, kind in kinds.items()}
    site = Site(
        lab_id=lab_id,
        hosts={
            name: Host(name, **{**fields, "kind": _kind(name, fields, kinds)}) for name, fields in raw["hosts"].items()
        },
        switches={name: Switch(name, **fields) for name, fields in raw["switches"].items()},
        groups=raw["groups"],
        users={name: User(name, **fields) for name, fields in raw["users"].items()},
    )
    _check(site)
    return site


def _kind(name: str, fields: Mapping[str, Any], kinds: Mapping[str, Kind]) -> Kind:
    if fields["kind"] not in kinds:
        raise LabError(f"hosts.{name}.kind is {fields['kind']}, which kinds lacks: use one of {', '.join(kinds)}")
    return kinds[fields["kind"]]


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
        if host.leaf is None:
            continue
        if host.leaf not in site.switches:
            raise LabError(
                f"{host.name}.leaf is {host.leaf}, which switches lacks: use one of {', '.join(site.switches)}"
            )
        if not 1 <= host.port <= site.switches[host.leaf].ports - host.kind.rails + 1:
            ports = site.switches[host.leaf].ports
            raise LabError(
                f"{host.name}.port is {host.port}, but {host.leaf} has {ports} ports for {host.kind.rails} rails"
            )
