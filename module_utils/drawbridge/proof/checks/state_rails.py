# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State checks of a node's rails from the kernel's files: link, PCIe, MTU, GID."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Callable

from ...nodes.gids import ipv4_gid
from ..limits import INFINIBAND, TRANSFERS, Derived, NoLimit, pcie_payload, rail_pcie
from ..measure import Found, Measure, Missing, Remark
from ..node import ProofNode, ProofRail
from ..tools.output import first_line
from .check import STATE, Check, Output, Texts

LINK, PCIE, MTU, GID = "rail link", "rail PCIe", "rail MTU", "rail GID"
Of = Callable[[ProofNode, int, ProofRail, Texts], Iterator[Found]]


def has_rails(node: ProofNode) -> bool:
    """Whether the node has any."""
    return bool(node.rails)


def rail_name(node: ProofNode, number: int) -> str:
    """The place of a finding: "gpu01 rail3"."""
    return f"{node.name} rail{number}"


def netdev_file(rail: ProofRail, name: str) -> str:
    """Path of a file of the network device."""
    return f"/sys/class/net/{rail.netdev}/{name}"


def device_file(rail: ProofRail, name: str) -> str:
    """Path of a file of the PCI device."""
    return f"/sys/class/infiniband/{rail.rdma}/device/{name}"


def port_file(rail: ProofRail, name: str) -> str:
    """Path of a file of the RDMA port."""
    return f"/sys/class/infiniband/{rail.rdma}/ports/1/{name}"


def files_of(*places: Callable[[ProofRail], str]) -> Callable[[ProofNode], Sequence[str]]:
    """Paths of all rails."""
    return lambda node: [place(rail) for rail in node.rails for place in places]


def unread(name: str, where: str, path: str, texts: Texts) -> Missing:
    """The finding about a file that is absent, or has another text."""
    text = texts.get(path)
    why = f"{path} can't be read" if text is None else f"not recognised: {path} has {first_line(text) or 'no text'}"
    return Missing(name, where, why)


def _of_rails(of: Of) -> Callable[[ProofNode, Sequence[Output], Texts], list[Found]]:
    """The check of each rail's files."""

    def found(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
        return [one for number, rail in enumerate(node.rails) for one in of(node, number, rail, texts)]

    return found


def _link(node: ProofNode, number: int, rail: ProofRail, texts: Texts) -> Iterator[Found]:
    """One remark for all that differs: a dead port shows in each of these files."""
    found = list(_link_files(node, number, rail, texts))
    remarks = [it for it in found if isinstance(it, Remark)]
    yield from (it for it in found if not isinstance(it, Remark))
    if remarks:
        yield Remark(LINK, rail_name(node, number), "; ".join(it.why for it in remarks))


def _link_files(node: ProofNode, number: int, rail: ProofRail, texts: Texts) -> Iterator[Found]:
    where, state, rate = rail_name(node, number), port_file(rail, "state"), port_file(rail, "rate")
    if node.fabric != INFINIBAND:
        yield from _netdev_link(where, rail, texts)
    for path, good in ((state, "ACTIVE"), (port_file(rail, "phys_state"), "LinkUp")):
        word = re.fullmatch(r"\d+: (\w+)\s*", texts.get(path, ""))
        if not word:
            yield unread(LINK, where, path, texts)
        elif word[1] != good:
            yield Remark(LINK, where, f"{path} is {word[1]}, not {good}")
    speed = re.match(r"(\d+(?:\.\d+)?) Gb/sec \(\d+X \w+\)", texts.get(rate, ""))
    if not speed:
        yield unread(LINK, where, rate, texts)
    elif rail.gbps and float(speed[1]) < rail.gbps:
        yield Remark(LINK, where, f"{rail.rdma} has {speed[0]}, the intent says {rail.gbps} Gb/s")


def _netdev_link(where: str, rail: ProofRail, texts: Texts) -> Iterator[Found]:
    up, speed = netdev_file(rail, "operstate"), netdev_file(rail, "speed")
    state = texts.get(up, "").strip()
    if not state:
        yield unread(LINK, where, up, texts)
    elif state != "up":
        yield Remark(LINK, where, f"{rail.netdev} is {state}")
    # without a link, the kernel has no speed
    elif not re.fullmatch(r"-?\d+\s*", texts.get(speed, "")):
        yield unread(LINK, where, speed, texts)
    elif rail.gbps and int(texts[speed]) < rail.gbps * 1000:
        yield Remark(LINK, where, f"{rail.netdev} has {int(texts[speed])} Mb/s, the intent says {rail.gbps} Gb/s")


def _pcie(node: ProofNode, number: int, rail: ProofRail, texts: Texts) -> Iterator[Found]:
    where, speed, width = rail_name(node, number), device_file(rail, _SPEED), device_file(rail, _WIDTH)
    rate = re.match(r"(\d+(?:\.\d+)?) GT/s", texts.get(speed, ""))
    generation = next((it for it, transfers in TRANSFERS.items() if rate and transfers == float(rate[1])), 0)
    lanes = texts.get(width, "").strip()
    if rate and float(rate[1]) < min(TRANSFERS.values()):
        yield Remark(PCIE, where, f"its link runs at {rate[0]}")
    elif not generation:
        yield unread(PCIE, where, speed, texts)
    elif not lanes.isdigit() or not int(lanes):
        yield unread(PCIE, where, width, texts)
    else:
        yield Measure(PCIE, pcie_payload(generation, int(lanes)), "GB/s", where)


def _pcie_limit(node: ProofNode, measure: Measure) -> Derived:
    """What the line rate needs."""
    rails = [rail for number, rail in enumerate(node.rails) if rail_name(node, number) == measure.where and rail.gbps]
    return rail_pcie(rails[0].gbps) if rails else NoLimit("the intent has no speed of the rail", "GB/s")


_SPEED, _WIDTH = "current_link_speed", "current_link_width"


def _mtu(node: ProofNode, number: int, rail: ProofRail, texts: Texts) -> Iterator[Found]:
    path, where = netdev_file(rail, "mtu"), rail_name(node, number)
    mtu = texts.get(path, "").strip()
    if not mtu.isdigit():
        yield unread(MTU, where, path, texts)
    elif int(mtu) != node.mtu_bytes:
        yield Remark(MTU, where, f"{rail.netdev} has an MTU of {mtu}, the intent says {node.mtu_bytes}")


_GIDS = ("gids/*", "gid_attrs/types/*", "gid_attrs/ndevs/*")


def _gid(node: ProofNode, number: int, rail: ProofRail, texts: Texts) -> Iterator[Found]:
    where, gids = rail_name(node, number), port_file(rail, "gids/")
    indices = [int(path[len(gids) :]) for path in texts if path.startswith(gids)]
    if not indices:
        yield Missing(GID, where, f"{gids} can't be read")
        return
    table = {at: _entry(rail, at, texts) for at in indices}
    first = ipv4_gid(table.values(), rail.netdev)
    if first is None:
        yield Remark(GID, where, f"{rail.rdma} has no RoCE v2 GID with an IPv4 address on {rail.netdev}")
    elif node.gid_index >= 0:
        own = [table[node.gid_index]] if node.gid_index in table else []
        if ipv4_gid(own, rail.netdev) is None:
            why = f"GID {node.gid_index} of {rail.rdma} is no RoCE v2 GID with an IPv4 address, {first} is"
            yield Remark(GID, where, why)


def _entry(rail: ProofRail, at: int, texts: Texts) -> tuple[int, str, str, str]:
    """Index, GID, type and network device. Entries without an address have no type that can be read."""
    gid, kind, netdev = (texts.get(port_file(rail, name.replace("*", str(at))), "").strip() for name in _GIDS)
    return at, gid, kind, netdev


RAIL_CHECKS: tuple[Check, ...] = (
    Check(
        LINK,
        STATE,
        "A rail is down or slower than the intent says: look at the cable, at the module and at the switch port.",
        "Rails",
        has_rails,
        _of_rails(_link),
        files=files_of(
            *(lambda rail, name=name: netdev_file(rail, name) for name in ("operstate", "speed")),
            *(lambda rail, name=name: port_file(rail, name) for name in ("state", "phys_state", "rate")),
        ),
    ),
    Check(
        PCIE,
        STATE,
        "The PCIe link of a rail carries less than its line rate: reseat the NIC, then look at slot, riser and BIOS.",
        "Rails",
        has_rails,
        _of_rails(_pcie),
        files=files_of(lambda rail: device_file(rail, _SPEED), lambda rail: device_file(rail, _WIDTH)),
        limit=_pcie_limit,
    ),
    Check(
        MTU,
        STATE,
        "A rail has another MTU than the intent: run the playbook, and look who else sets it.",
        "Rails",
        lambda node: has_rails(node) and node.mtu_bytes > 0,
        _of_rails(_mtu),
        files=files_of(lambda rail: netdev_file(rail, "mtu")),
    ),
    Check(
        GID,
        STATE,
        "RDMA has no address on a rail: look at the rail's IPv4 address and at its RoCE mode.",
        "Rails",
        lambda node: has_rails(node) and node.fabric != INFINIBAND,
        _of_rails(_gid),
        files=files_of(*(lambda rail, name=name: port_file(rail, name) for name in _GIDS)),
    ),
)
