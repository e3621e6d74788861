# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A port as it works, and what the show commands say of links and neighbours. JSON keys: eAPI responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.shows import Answer, Question, Shows
from lab.emulators.fabric.switch import Refused, State


@dataclass(frozen=True)
class Port:
    """What is in force on a port: its own lines over those of its service profile."""

    name: str
    lines: tuple[str, ...]
    queues: dict[str, tuple[str, ...]]

    @property
    def pfc(self) -> bool:
        """Say whether priority flow control is on."""
        return "priority-flow-control on" in self.lines

    @property
    def lossless(self) -> list[str]:
        """Return the priorities that are paused instead of dropped."""
        words = [text.split() for text in self.lines if text.startswith("priority-flow-control priority ")]
        return sorted({priority for _, _, priority, action in words if action == "no-drop"})

    @property
    def routed(self) -> bool:
        """Say whether the port is a layer-3 one."""
        return "no switchport" in self.lines

    @property
    def up(self) -> bool:
        """Say whether the link is up."""
        return "shutdown" not in self.lines


def port(state: State, name: str) -> Port:
    """Return what is in force on a port; a profile that doesn't exist has no effect."""
    own = tree.block(state["running"], f"interface {name}")
    if own is None or name not in state["ports"]:
        raise Refused("% Interface does not exist")
    title = next((t.split()[1] for t in own["lines"].values() if t.startswith("service-profile ")), "")
    profile = tree.block(state["running"], f"qos profile {title}") or tree.empty()
    queues: dict[str, tuple[str, ...]] = {}
    for key, queue in [*profile["blocks"].items(), *own["blocks"].items()]:
        number = key.rpartition(" ")[2]
        queues[number] = (*queues.get(number, ()), *queue["lines"].values())
    return Port(name, (*profile["lines"].values(), *own["lines"].values()), queues)


def ports(question: Question) -> list[Port]:
    """Return the ports that a command asks for, in EOS's order."""
    wanted = question.args.get("port")
    names = [wanted] if wanted else sorted(question.state["ports"], key=tree.natural)
    return [port(question.state, name) for name in names]


def interfaces(question: Question) -> Answer:
    """`show interfaces [PORT]`: link, MTU and how often the link changed."""
    data = {one.name: _interface(question.state, one) for one in ports(question)}
    lines: list[str] = []
    for name, one in data.items():
        kind = "IP MTU" if one["forwardingModel"] == "routed" else "Ethernet MTU"
        link = "administratively down" if one["interfaceStatus"] == "disabled" else "up"
        lines.append(f"{name} is {link}, line protocol is {one['lineProtocolStatus']} ({one['interfaceStatus']})")
        lines += ["  Hardware is Ethernet, address is 001c.7300.0001 (bia 001c.7300.0001)"]
        lines += [f"  Description: {one['description']}"] if one["description"] else []
        lines += [f"  {kind} {one['mtu']} bytes, BW 400000000 kbit"]
        lines += [f"  {one['interfaceCounters']['linkStatusChanges']} link status changes since last clear"]
    return Answer("\n".join(lines), {"interfaces": data})


def _interface(state: State, one: Port) -> dict[str, Any]:
    mtu = next((int(text.split()[1]) for text in one.lines if text.startswith("mtu ")), 1500)
    link = state["ports"][one.name]
    return {
        "name": one.name,
        "hardware": "ethernet",
        "description": next((text.split(" ", 1)[1] for text in one.lines if text.startswith("description ")), ""),
        "forwardingModel": "routed" if one.routed else "bridged",
        "lineProtocolStatus": "up" if one.up else "down",
        "interfaceStatus": "connected" if one.up else "disabled",
        # What is configured is the IP MTU: a switched port carries whatever frames the hardware can.
        "mtu": mtu if one.routed else 9214,
        "bandwidth": 400_000_000_000,
        "lastStatusChangeTimestamp": link["changed"],
        "interfaceCounters": {"linkStatusChanges": link["flaps"]},
    }


def lldp(question: Question) -> Answer:
    """`show lldp neighbors`: who is at the other end of each port."""
    cables = question.state["neighbors"]
    found = [
        {"port": name, "neighborDevice": cables[name][0], "neighborPort": cables[name][1], "ttl": 120}
        for name in sorted(cables, key=tree.natural)
    ]
    rows = [("Port", "Neighbor Device ID", "Neighbor Port ID", "TTL")]
    rows += [(f"Et{n['port'][8:]}", n["neighborDevice"], n["neighborPort"], "120") for n in found]
    drawn = ["{:<14}{:<25}{:<20}{}".format(*row) for row in rows]
    drawn.insert(1, " ".join("-" * width for width in (10, 24, 22, 3)))
    head = [
        "Last table change time   : 0:16:21 ago",
        f"Number of table inserts  : {len(found)}",
        "Number of table deletes  : 0",
        "Number of table drops    : 0",
        "Number of table age-outs : 0",
        "",
    ]
    tables = {"tablesInserts": len(found), "tablesDeletes": 0, "tablesDrops": 0, "tablesAgeOuts": 0}
    return Answer("\n".join([*head, *drawn]), {**tables, "lldpNeighbors": found})


PORTS: Shows = {
    "show interfaces [<port:port>]": interfaces,
    "show lldp neighbors": lldp,
}
