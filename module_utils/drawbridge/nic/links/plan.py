# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the actual to the wanted MTU of a node's RDMA network devices, and their ARP, global pause and rings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...core.converge import Step

NETWORKD, NETWORK_MANAGER = "systemd-networkd", "NetworkManager"
NETWORKD_DROP_IN = "50-drawbridge-mtu.conf"
NETWORK_MANAGER_FILE = "/etc/NetworkManager/conf.d/50-drawbridge-mtu.conf"
ARP = {"arp_ignore": "1", "arp_announce": "2", "rp_filter": "2"}
"""A device answers ARP for its own addresses alone. Without that all rails of a subnet have the address of one NIC. The
reverse path is checked loosely, because a strict check drops what arrives at the second rail of a subnet."""
RINGS, PAUSES = ("ring rx", "ring tx"), ("global pause rx", "global pause tx")
HEAD = "# Written by Drawbridge: the MTU of RDMA network devices.\n"


@dataclass(frozen=True)
class Owner:
    """The program that configures a device after a boot: its name, and the file or profile in which it does so."""

    name: str = ""
    source: str = ""
    mtu: int = 0
    """The MTU that a profile sets by itself; 0 for none."""


@dataclass(frozen=True)
class NicLink:
    """One network device. Only the MTU in bytes counts for equality."""

    mtu: int
    most: int = field(default=0, compare=False)
    """The largest MTU of its driver, 0 if the kernel does not say."""
    up: bool = field(default=True, compare=False)
    owner: Owner = field(default=Owner(), compare=False)


@dataclass(frozen=True)
class NicLinks:
    """The wanted devices by name, and the text of each of our files by path.

    `sources` has the configuration file of every other device that systemd-networkd configures.
    """

    links: dict[str, NicLink]
    files: dict[str, str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict, compare=False)
    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    """Further settings by device and name: ARP, ring, PAUSES and RINGS of ports."""

    def lines(self) -> list[str]:
        """Commands of ip, the files, and the settings."""
        texts = [f"{path}: {line}" for path, text in sorted(self.files.items()) for line in text.splitlines()]
        settings = [f"{device} {name}: {value}" for (device, name), value in sorted(self.settings.items())]
        return [*(f"ip link set dev {name} mtu {link.mtu}" for name, link in self.links.items()), *texts, *settings]


@dataclass(frozen=True)
class Change:
    """A new MTU or setting of a device, or a new text of a file; no text removes it."""

    name: str
    mtu: int = 0
    text: str | None = None
    setting: str = ""
    value: str = ""


def wanted(groups: Iterable[Mapping[str, Any]]) -> NicLinks:
    """MTU and settings of all devices, from the module's groups. After a boot the node reads them from a file."""
    links: dict[str, NicLink] = {}
    settings: dict[tuple[str, str], str] = {}
    for group in groups:
        links.update((name, NicLink(int(group["mtu_bytes"]))) for name in group["interfaces"])
        of_port = dict.fromkeys(PAUSES, "off") | dict.fromkeys(
            RINGS if (size := group.get("ring_size")) else (), str(size)
        )
        arp = ARP if group.get("own_addresses") else {}
        settings.update(((name, key), value) for name in group["interfaces"] for key, value in arp.items())
        settings.update(((port, key), value) for port in group.get("ports") or () for key, value in of_port.items())
    return NicLinks(links, settings=settings)


def plan(have: NicLinks, want: NicLinks) -> list[Step[NicLinks]]:
    """Steps: first the files, then the devices. New settings of ARP disturb no job; the others stop traffic shortly.

    A manager of the network that starts meanwhile then sets the same MTU. A device that none manages gets its MTU from
    Drawbridge's service after a boot.
    """
    steps: list[Step[NicLinks]] = []
    files = _files(have, want)
    for path in sorted({*have.files, *files}):
        if have.files.get(path) != files.get(path):
            steps.append(_file_step(path, files.get(path)))
    for name, goal in want.links.items():
        if have.links[name].mtu != goal.mtu:
            steps.append(_mtu_step(name, have.links[name], goal.mtu))
    for (device, setting), value in want.settings.items():
        if have.settings[device, setting] != value:
            steps.append(_setting_step(Change(device, setting=setting, value=value), have))
    if refused := _conflict(have, want):
        nothing: Step[NicLinks] = Step("keep the MTU of RDMA network devices", lambda state: state)
        steps = [replace(step, refused=refused) for step in steps or [nothing]]
    return steps


def _files(have: NicLinks, want: NicLinks) -> dict[str, str]:
    """Our files beside those of the devices' managers."""
    found: dict[str, str] = {}
    managed: dict[int, list[str]] = {}
    for name, goal in want.links.items():
        owner = have.links[name].owner
        if owner.name == NETWORKD:
            file = owner.source.rsplit("/", 1)[-1]
            found[f"/etc/systemd/network/{file}.d/{NETWORKD_DROP_IN}"] = f"{HEAD}[Link]\nMTUBytes={goal.mtu}\n"
        elif owner.name == NETWORK_MANAGER and not owner.mtu:
            managed.setdefault(goal.mtu, []).append(name)
    if managed:
        found[NETWORK_MANAGER_FILE] = HEAD + "\n".join(_section(mtu, names) for mtu, names in sorted(managed.items()))
    return found


def _section(mtu: int, names: list[str]) -> str:
    devices = ",".join(f"interface-name:{name}" for name in names)
    return f"[connection-drawbridge-{mtu}]\nmatch-device={devices}\nethernet.mtu={mtu}\n"


def _conflict(have: NicLinks, want: NicLinks) -> str:
    """Why a person must act first: a driver that can't, or a manager's own setting that would win or hit others."""
    for name, goal in want.links.items():
        link = have.links[name]
        if link.most and goal.mtu > link.most:
            return (
                f"mtu_bytes is {goal.mtu}, but the driver of {name} takes at most {link.most};"
                " correct host_mtu_bytes in drawbridge_fabric"
            )
        if link.owner.mtu not in (0, goal.mtu):
            return (
                f"the NetworkManager profile {link.owner.source} gives {name} the MTU {link.owner.mtu}, not {goal.mtu};"
                f" remove its own: nmcli connection modify {link.owner.source} 802-3-ethernet.mtu 0"
            )
        if shared := _shared(name, goal.mtu, have, want):
            return (
                f"{link.owner.source} configures {name} and {shared}, which must keep its MTU;"
                f" give {name} a .network file of its own"
            )
    return ""


def _shared(name: str, mtu: int, have: NicLinks, want: NicLinks) -> str:
    """Another device with the same file of systemd-networkd and another MTU; empty for none."""
    owner = have.links[name].owner
    if owner.name != NETWORKD:
        return ""
    ours = [it for it, goal in want.links.items() if goal.mtu != mtu and have.links[it].owner == owner]
    others = [it for it, source in have.sources.items() if source == owner.source and it not in want.links]
    return next(iter([*ours, *others]), "")


def _mtu_step(name: str, have: NicLink, mtu: int) -> Step[NicLinks]:
    def applied(state: NicLinks) -> NicLinks:
        return replace(state, links={**state.links, name: replace(state.links[name], mtu=mtu)})

    return Step(f"{name}: set MTU {mtu}, not {have.mtu}", applied, Change(name, mtu=mtu), disturbs=have.up)


def _setting_step(change: Change, have: NicLinks) -> Step[NicLinks]:
    key = (change.name, change.setting)

    def applied(state: NicLinks) -> NicLinks:
        return replace(state, settings={**state.settings, key: change.value})

    reason = f"{change.name}: set {change.setting} to {change.value}, not {have.settings[key]}"
    return Step(reason, applied, change, disturbs=change.setting not in ARP)


def _file_step(path: str, text: str | None) -> Step[NicLinks]:
    def applied(state: NicLinks) -> NicLinks:
        files = {name: old for name, old in state.files.items() if name != path}
        return replace(state, files=files if text is None else {**files, path: text})

    reason = f"{'remove' if text is None else 'write'} {path}, for the MTU after a boot"
    return Step(reason, applied, Change(path, text=text))
