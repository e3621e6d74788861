# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated switch is one process that serves SSH on the switch's own address, in a network namespace of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.site import Site, Switch

Neighbors = dict[str, list[str]]


def neighbors(site: Site, switch: Switch) -> Neighbors:
    """The cables of a switch: port name -> [device, port there]. LabError when two cables meet in a port."""
    cables = [
        *((port, host.name, inside)
          for host in site.hosts.values() for name, port, inside in host.cables() if name == switch.name),
        *((port, far, site.switches[far].port(far_port)) for port, (far, far_port) in switch.uplinks.items()),
        *((far_port, leaf.name, leaf.port(port))
          for leaf in site.switches.values() for port, (far, far_port) in leaf.uplinks.items() if far == switch.name),
    ]  # fmt: skip
    found: Neighbors = {}
    for port, device, there in sorted(cables):
        if taken := found.get(switch.port(port)):
            both = f"{' '.join(taken)} and {device} {there}"
            raise LabError(f"{switch.name} port {port} is taken twice, by {both}: move one of them in lab/site.yml")
        found[switch.port(port)] = [device, there]
    return found


def command(site: Site, switch: Switch, paths: Paths, cabling: Path) -> list[str]:
    """The process for one switch: each platform is a package of lab.emulators.fabric."""
    return [
        *(sys.executable, "-m", "lab.emulators.fabric", switch.platform, "--name", switch.name),
        *("--listen", f"{site.ip(switch.address)}:22", "--directory", str(paths.switch(switch.name))),
        *("--clock", str(paths.clock), "--host-key", str(paths.host_key(switch.name))),
        *("--authorized-key", f"{paths.user_key}.pub", "--neighbors", str(cabling)),
        *("--shared", str(paths.shared)),
        *("--platform", switch.asic, "--port-count", str(switch.ports)),
    ]


def prepare(site: Site, switch: Switch, paths: Paths) -> list[str]:
    """Write down the cables of the switch, and return the command that serves it."""
    cabling = paths.state / "cabling" / f"{switch.name}.json"
    cabling.parent.mkdir(parents=True, exist_ok=True)
    cabling.write_text(json.dumps(neighbors(site, switch), indent=1))
    return command(site, switch, paths, cabling)
