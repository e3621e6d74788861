# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules between the two ends of a link between switches: both must treat the lossless class alike."""

from __future__ import annotations

from collections.abc import Iterator

from ..core import hostlist, ports
from ..core.faults import Fault
from .cabling import CablingError, SwitchPorts, switch_links
from .model import Fabric

LINKS = "drawbridge_fabric.cabling.links"


def both_ends_carry_the_class(fabric: Fabric) -> Iterator[Fault]:
    """A listed port gets priority, trust and MTU of the intent; any other port keeps its own."""
    listed = _listed(fabric)
    for link in _links(fabric):
        ends = ((link.lower, link.lower_port), (link.upper, link.upper_port))
        bare = [(switch, port) for switch, port in ends if port not in listed.get(switch, {port})]
        if bare:
            names = " and ".join(f"{switch} {port}" for switch, port in bare)
            differ = "the two ends differ" if len(bare) == 1 else "neither end carries the lossless class"
            carried = f"priority {fabric.roce.priority} lossless, trust DSCP and MTU {fabric.switch_mtu_bytes}"
            reason = f"{differ}: drawbridge_fabric.switches does not list {names}, which would lack {carried}"
            repair = " and ".join(f"add {port} to ports of {switch}" for switch, port in bare)
            yield Fault(LINKS, f"{link.lower} {link.lower_port} to {link.upper} {link.upper_port}", reason, repair)
            return  # one entry names many links, and the first shows the cause


def unchecked(fabric: Fabric) -> list[str]:
    """Checks of links that can't be made, as sentences, because the intent does not name the links."""
    spines = [name for kind in fabric.switches if kind.tier == "spine" for name in hostlist.expand(kind.names)]
    linked = {end for link in _links(fabric) for end in (link.lower, link.upper)}
    missing = hostlist.compress([name for name in spines if name not in linked])
    if not missing:
        return []
    return [f"no {LINKS} for {missing}: Drawbridge does not check that both ends of its links agree"]


def _links(fabric: Fabric) -> list[SwitchPorts]:
    """All links; none if another rule refuses the lists."""
    try:
        return switch_links(fabric.cabling) if fabric.cabling else []
    except (CablingError, ports.PortsError):
        return []


def _listed(fabric: Fabric) -> dict[str, set[str]]:
    """The listed ports of each switch; none of a list that another rule refuses."""
    found: dict[str, set[str]] = {}
    for kind in fabric.switches:
        try:
            found.update((name, set(ports.expand(kind.ports))) for name in hostlist.expand(kind.names))
        except ports.PortsError:
            continue
    return found


RULES = (both_ends_carry_the_class,)
