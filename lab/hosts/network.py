# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Bridges and cables, as lines for `ip -batch`. All links of a lab carry one group number, so one line removes them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.site import Host, Site, Switch


def link_group(lab_id: int) -> int:
    """The number under which ip-link(8) finds all links of one lab."""
    return 7700 + lab_id


def cables(node: Host | Switch, paths: Paths) -> dict[str, tuple[str, str]]:
    """Its interfaces: name in there -> (name of the other end on the machine, bridge it is plugged into).

    A switch has the one that it is managed by; the ports between which it would forward are its emulator's affair.
    """
    stem = f"db{paths.lab_id}{node.name}"
    ports = node.kind.ports if isinstance(node, Host) else ()
    return {"eth0": (stem, paths.bridge), **{port: (f"{stem}{port[0]}{port[-1]}", paths.fabric) for port in ports}}


def bridge_lines(site: Site, paths: Paths) -> list[str]:
    """Both bridges and the machine's own address."""
    group = link_group(paths.lab_id)
    return [
        f"link add {paths.bridge} group {group} type bridge",
        f"link add {paths.fabric} group {group} type bridge",
        f"address add {site.gateway}/24 dev {paths.bridge}",
        f"link set {paths.fabric} up",
        f"link set {paths.bridge} up",
    ]


def cable_lines(site: Site, node: Host | Switch, paths: Paths) -> list[str]:
    """The machine's side of the cables; the other ends appear in the network namespace of the node's name."""
    group = link_group(paths.lab_id)
    lines = []
    for inside, (outside, bridge) in cables(node, paths).items():
        if is_vm(node):
            lines += [f"tuntap add dev {outside} mode tap", f"link set {outside} group {group}"]
        else:
            peer = f"peer name {inside} address {site.mac(node.name, inside)} netns {node.name}"
            lines.append(f"link add {outside} group {group} type veth {peer}")
        lines.append(f"link set {outside} master {bridge} up")
    return lines


def is_vm(node: Host | Switch) -> bool:
    """Whether the node has its own kernel, which gives its interfaces their addresses."""
    return isinstance(node, Host) and node.kind.vm is not None


def inside_lines(site: Site, node: Host | Switch, paths: Paths) -> list[str]:
    """The node's side: what a site's installer or DHCP would have configured before it is handed over."""
    up = [f"link set {name} up" for name in ("lo", *cables(node, paths))]
    return [f"address add {site.ip(node.address)}/24 dev eth0", *up, f"route add default via {site.gateway}"]


def connect(site: Site, node: Host | Switch, paths: Paths) -> None:
    """Make the network namespace of a host or switch and plug in its cables: ports that the machine uses are free."""
    disconnect(node, paths)
    if is_vm(node):
        batch(cable_lines(site, node, paths))
        return
    run(["netns", "add", node.name])
    batch(cable_lines(site, node, paths))
    batch(inside_lines(site, node, paths), netns=node.name)


def disconnect(node: Host | Switch, paths: Paths) -> None:
    """Pull the cables first: a namespace dies some time after its name, and would keep theirs so long."""
    lines = [f"link delete {outside}" for outside, _ in cables(node, paths).values()]
    run(["-force", "-batch", "-"], text="\n".join([*lines, f"netns delete {node.name}", ""]), check=False)


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
