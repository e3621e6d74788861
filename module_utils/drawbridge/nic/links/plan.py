# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the actual to the wanted MTU of a node's RDMA network devices, their routes and their ports' settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.converge import Step
from . import managers
from .managers import NETWORKD, NO_OWNER, Owner, Wanted
from .routes import NO_ROUTES, Rail, Routing, changes, foreign, own_gateway, routing
from .routes import Change as RouteChange
from .settings import QUIET, Settings
from .settings import wanted as settings_of

KEPT = 0
"""An MTU that Drawbridge does not set."""


@dataclass(frozen=True)
class NicLink:
    """One network device. Only the MTU in bytes counts for equality."""

    mtu: int
    most: int = field(default=0, compare=False)
    """The largest MTU of its driver, 0 if the kernel does not say."""
    up: bool = field(default=True, compare=False)
    owner: Owner = field(default=NO_OWNER, compare=False)
    address: str = field(default="", compare=False)
    """Its IPv4 address with the prefix of its subnet."""
    off: bool = field(default=False, compare=False)
    """It is administratively down, so that it takes no routes."""


@dataclass(frozen=True)
class NicLinks:
    """The wanted devices by name, and the text of each of our files by path.

    `sources` has the configuration file of every other device that systemd-networkd configures.
    """

    links: dict[str, NicLink]
    files: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict, compare=False)
    settings: Settings = field(default_factory=dict)
    """Further settings, which settings.py names."""
    routing: Routing = NO_ROUTES
    """Rules and routes of the rails' own tables."""
    rails: dict[str, Rail] = field(default_factory=dict, compare=False)
    """The devices that shall have a table, for the goal."""
    whole: bool = field(default=True, compare=False)
    """Whether these are all devices of the node, so that files of other devices are old."""

    def of(self, names: Collection[str]) -> NicLinks:
        """The part of the goal for these devices and ports alone. It has no files."""
        settings = {key: value for key, value in self.settings.items() if key[0] in names}
        links = {name: it for name, it in self.links.items() if name in names}
        rails = {name: it for name, it in self.rails.items() if name in names}
        return NicLinks(links, settings=settings, rails=rails, whole=False)

    def lines(self) -> list[str]:
        """Commands of ip, the files, and the settings."""
        texts = [f"{path}: {line}" for path, text in sorted(self.files.items()) for line in text.splitlines()]
        settings = [f"{device} {name}: {value}" for (device, name), value in sorted(self.settings.items())]
        mtus = [f"ip link set dev {name} mtu {link.mtu}" for name, link in self.links.items() if link.mtu != KEPT]
        return [*mtus, *texts, *settings, *self.routing.lines()]


@dataclass(frozen=True)
class Change:
    """A new MTU or setting of a device, or a new text of a file; no text removes it. `ip` is a command for routing."""

    name: str = ""
    mtu: int = 0
    text: str | None = None
    setting: str = ""
    value: str = ""
    ip: tuple[str, ...] = ()


def wanted(groups: Iterable[Mapping[str, Any]]) -> NicLinks:
    """MTU and settings of all devices, from the module's groups. After a boot the node reads them from a file."""
    links: dict[str, NicLink] = {}
    settings: Settings = {}
    rails: dict[str, Rail] = {}
    for group in groups:
        if table := int(group.get("route_table") or 0):
            gateway = group.get("gateway") or ""
            rails.update((name, Rail(table + at, gateway)) for at, name in enumerate(group["interfaces"]))
        links.update((name, NicLink(int(group["mtu_bytes"]))) for name in group["interfaces"])
        settings.update(settings_of(group))
    return NicLinks(links, settings=settings, rails=rails)


def plan(have: NicLinks, want: NicLinks) -> list[Step[NicLinks]]:
    """Steps: first the files, then the devices. New settings of ARP disturb no job; the others stop traffic shortly.

    A manager of the network that starts meanwhile then sets the same MTU. A device that none manages gets its MTU from
    Drawbridge's service after a boot.
    """
    steps: list[Step[NicLinks]] = []
    rails = {name: routing(name, have.links[name].address, rail) for name, rail in want.rails.items()}
    after = {
        name: Wanted(have.links[name].owner, it.mtu, rails.get(name, NO_ROUTES)) for name, it in want.links.items()
    }
    files = managers.files(after)
    for path in sorted({*have.files, *files}):
        if have.files.get(path) != files.get(path):
            steps.append(_file_step(path, files.get(path)))
    for name, goal in want.links.items():
        if goal.mtu not in (KEPT, have.links[name].mtu):
            steps.append(_mtu_step(name, have.links[name], goal.mtu))
    for (device, setting), value in want.settings.items():
        if have.settings[device, setting] != value:
            steps.append(_setting_step(Change(device, setting=setting, value=value), have))
    off = [name for name, it in rails.items() if it.routes and have.links[name].off]
    steps += [_route_step(change) for change in changes(have.routing, rails, off)]
    steps += [Step(f"{name}: add its routes", lambda state: state, pending=f"{name} is down") for name in off]
    if refused := _conflict(have, want, rails):
        nothing: Step[NicLinks] = Step("keep the settings of RDMA network devices", lambda state: state)
        steps = [replace(step, refused=refused) for step in steps or [nothing]]
    return steps


def _conflict(have: NicLinks, want: NicLinks, rails: Mapping[str, Routing]) -> str:
    """Why a person must act first: a driver that can't, or a manager's own setting that would win or hit others."""
    for name, goal in want.links.items():
        link = have.links[name]
        if link.most and goal.mtu > link.most:
            return (
                f"mtu_bytes is {goal.mtu}, but the driver of {name} takes at most {link.most};"
                " correct host_mtu_bytes in drawbridge_fabric"
            )
        if goal.mtu != KEPT and link.owner.mtu not in (0, goal.mtu):
            return (
                f"the NetworkManager profile {link.owner.source} gives {name} the MTU {link.owner.mtu}, not {goal.mtu};"
                f" remove its own: nmcli connection modify {link.owner.source} 802-3-ethernet.mtu 0"
            )
        if shared := _shared(name, goal.mtu, have, want):
            return (
                f"{link.owner.source} configures {name} and {shared}, which needs other settings;"
                f" give {name} a .network file of its own"
            )
    if name := own_gateway(rails):
        gateway, own = want.rails[name].gateway, have.links[name].address
        return (
            f"gateway is {gateway}, but {own} is the address of {name} itself; correct nics.gateway in drawbridge_nodes"
        )
    if other := foreign(have.routing, rails):
        return (
            f"route_table is not free: this host has {other}; set nics.route_table in drawbridge_nodes to free numbers"
        )
    return ""


def _shared(name: str, mtu: int, have: NicLinks, want: NicLinks) -> str:
    """Another device with the same file of systemd-networkd and other settings; empty for none."""
    owner = have.links[name].owner
    if owner.name != NETWORKD:
        return ""
    other = [it for it, goal in want.links.items() if it != name and (goal.mtu != mtu or name in want.rails)]
    ours = [it for it in other if have.links[it].owner == owner]
    others = [it for it, source in have.sources.items() if source == owner.source and it not in want.links]
    return next(iter([*ours, *others]), "")


def _mtu_step(name: str, have: NicLink, mtu: int) -> Step[NicLinks]:
    def applied(state: NicLinks) -> NicLinks:
        return replace(state, links={**state.links, name: replace(state.links[name], mtu=mtu)})

    reason = f"{name}: set MTU {mtu}, not {have.mtu}"
    return Step(reason, applied, Change(name, mtu=mtu), disturbs=have.up, about=f"{name} MTU")


def _route_step(change: RouteChange) -> Step[NicLinks]:
    def applied(state: NicLinks) -> NicLinks:
        return replace(state, routing=change.after)

    return Step(change.reason, applied, Change(ip=change.argv), disturbs=True)


def _setting_step(change: Change, have: NicLinks) -> Step[NicLinks]:
    key = (change.name, change.setting)

    def applied(state: NicLinks) -> NicLinks:
        return replace(state, settings={**state.settings, key: change.value})

    reason = f"{change.name}: set {change.setting} to {change.value}, not {have.settings[key]}"
    return Step(reason, applied, change, disturbs=change.setting not in QUIET, about=f"{change.name} {change.setting}")


def _file_step(path: str, text: str | None) -> Step[NicLinks]:
    def applied(state: NicLinks) -> NicLinks:
        files = {name: old for name, old in state.files.items() if name != path}
        return replace(state, files=files if text is None else {**files, path: text})

    reason = f"{'remove' if text is None else 'write'} {path}, for the settings after a boot"
    return Step(reason, applied, Change(path, text=text))
