# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of port-channels, and of pairs of switches that share some."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from ..core import hostlist, ports
from ..core.faults import Fault
from ..core.rules import doubled
from .model import Channel, Fabric, Switches
from .nos.capabilities import capabilities

NUMBER = r"\d+"
"""Ends the pattern of a system that numbers its port-channels; on others a word may be the name."""


def channels_have_members(fabric: Fabric) -> Iterator[Fault]:
    """A member carries the class, so it is a listed port, and it is in one port-channel."""
    for index, kind in enumerate(fabric.switches):
        key, pattern = f"drawbridge_fabric.switches[{index}].channels", capabilities(kind.platform).channels
        listed, used = _expanded(kind.ports), set[str]()
        for channel in kind.channels:
            members, names = _expanded(channel.members), hostlist.expand(channel.name)
            if not pattern:
                reason = f"on {kind.platform} a port-channel has the classes in place of its members"
                yield Fault(f"{key}.name", channel.name, reason, "remove the entry, and list the port-channel in ports")
            elif not all(re.fullmatch(pattern, name) for name in names):
                reason, stem = f"{kind.platform} names port-channels otherwise", pattern.removesuffix(NUMBER)
                such = f"{stem}1" if stem != pattern else "bond1"
                yield Fault(f"{key}.name", channel.name, reason, f"write a name such as {such}")
            yield from _members(f"{key}.members", channel, len(names), listed, used)
            used |= {*members}
        yield from doubled(f"{key}.name", _names(kind), "name each port-channel once")


def _names(kind: Switches) -> list[str]:
    return [name for channel in kind.channels for name in hostlist.expand(channel.name)]


def _members(key: str, channel: Channel, names: int, listed: Sequence[str], used: Collection[str]) -> Iterator[Fault]:
    members = _expanded(channel.members)
    if members and len(members) % names:
        reason = f"{len(members)} ports can't be {names} port-channels of equally many"
        yield Fault(key, channel.members, reason, "list the ports of each, one port-channel after the other")
    if outside := [port for port in members if port not in listed] if listed else []:
        reason = f"{outside[0]} is not in ports of these switches, so it would not carry the class"
        yield Fault(key, channel.members, reason, f"add {outside[0]} to ports")
    if twice := [port for port in members if port in used]:
        reason = f"{twice[0]} is in another port-channel too"
        yield Fault(key, channel.members, reason, "list each port in one port-channel")


def _expanded(text: str) -> list[str]:
    """The ports of a list; none of a list that another rule refuses."""
    try:
        return ports.expand(text)
    except ports.PortsError:
        return []


def pairs_are_two_of_these_switches(fabric: Fabric) -> Iterator[Fault]:
    """Both switches of a pair are of one kind, and each is in one pair."""
    for index, kind in enumerate(fabric.switches):
        key, own = f"drawbridge_fabric.switches[{index}].pairs", hostlist.expand(kind.names)
        for pair in kind.pairs:
            names = hostlist.expand(pair)
            if len(names) != 2:
                reason = f"it names {len(names)} switches, and a pair is two"
                yield Fault(key, pair, reason, "write each pair as one hostlist, such as leaf[01-02]")
            elif other := [name for name in names if name not in own]:
                reason = f"{other[0]} is not in names of this entry"
                yield Fault(key, pair, reason, "list both switches of a pair in one entry")
        peers = [name for pair in kind.pairs for name in hostlist.expand(pair)]
        yield from doubled(key, peers, "name every switch in one pair")


RULES = (channels_have_members, pairs_are_two_of_these_switches)
