# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Bridges and cables, as lines for `ip -batch`. All links of a lab carry one group number, so one line removes them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.site import Host, Site


def link_group(lab_id: int) -> int:
    """The number under which ip-link(8) finds all links of one lab."""
    return 7700 + lab_id


def cables(host: Host, paths: Paths) -> dict[str, tuple[str, str]]:
    """The host's interfaces: name in the host -> (name of the other end on the machine, bridge it is plugged into)."""
    stem = f"db{paths.lab_id}{host.name}"
    rails = {f"rail{i}": (f"{stem}r{i}", paths.fabric) for i in range(host.kind.rails)}
    return {"eth0": (stem, paths.bridge), **rails}


def bridge_lines(site: Site, paths: Paths) -> list[str]:
    """Both bridges, the machine's own address and the switches' addresses."""
    group = link_group(paths.lab_id)
    switches = [f"address add {site.ip(switch.address)}/32 dev {paths.bridge}" for switch in site.switches.values()]
    return [
        f"link add {paths.bridge} group {group} type bridge",
        f"link add {paths.fabric} group {group} type bridge",
        f"address add {site.gateway}/24 dev {paths.bridge}",
        *switches,
        f"link set {paths.fabric} up",
        f"link set {paths.bridge} up",
    ]


def cable_lines(site: Site, host: Host, paths: Paths) -> list[str]:
    """The machine's side of a host's cables; the other ends appear in the network namespace of the host's name."""
    group = link_group(paths.lab_id)
    lines = []
    for inside, (outside, bridge) in cables(host, paths).items():
        peer = f"peer name {inside} address {site.mac(host.name, inside)} netns {host.name}"
        lines.append(f"link add {outside} group {group} type veth {peer}")
        lines.append(f"link set {outside} master {bridge} up")
    return lines


def inside_lines(site: Site, host: Host, paths: Paths) -> list[str]:
    """The host's side: what a site's installer or DHCP would have configured before the host is handed over."""
    up = [f"link set {name} up" for name in ("lo", *cables(host, paths))]
    return [f"address add {site.ip(host.address)}/24 dev eth0", *up, f"route add default via {site.gateway}"]


def connect(site: Site, host: Host, paths: Paths) -> None:
    """Make the host's network namespace and plug in its cables."""
    disconnect(host, paths)
    run(["netns", "add", host.name])
    batch(cable_lines(site, host, paths))
    batch(inside_lines(site, host, paths), netns=host.name)


def disconnect(host: Host, paths: Paths) -> None:
    """Pull the cables first: a namespace dies some time after its name, and would keep theirs so long."""
    lines = [f"link delete {outside}" for outside, _ in cables(host, paths).values()]
    run(["-force", "-batch", "-"], text="\n".join([*lines, f"netns delete {host.name}", ""]), check=False)


def ensure_bridges(site: Site, paths: Paths) -> None:
    """Make both bridges. The management bridge goes up last, so one that isn't up was left by a command cut short."""
    flags = Path("/sys/class/net", paths.bridge, "flags")
    if flags.exists() and int(flags.read_text(), 16) & 1:
        return
    for bridge in (paths.bridge, paths.fabric):
        run(["link", "delete", bridge], check=False)
    batch(bridge_lines(site, paths))


def remove_all(lab_id: int) -> None:
    """Remove every link of a lab; there may be none."""
    run(["link", "delete", "group", str(link_group(lab_id))], check=False)


def batch(lines: Sequence[str], netns: str | None = None) -> None:
    """Run lines of ip(8) in one process, in the namespace if one is named; LabError with ip's own words."""
    run([*(["-n", netns] if netns else []), "-batch", "-"], text="\n".join([*lines, ""]))


def run(arguments: Sequence[str], text: str | None = None, check: bool = True) -> int:
    """Run ip(8); LabError with its own words unless the caller reads the exit code."""
    process = subprocess.run(["ip", *arguments], input=text, capture_output=True, text=True, check=False)
    if check and process.returncode:
        raise LabError(
            f"ip {' '.join(arguments)} said {process.stderr.strip()}: run lab down, or see who made that link"
        )
    return process.returncode
