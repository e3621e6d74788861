# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of tools and files of the kernel as values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from . import firewall_text

_NUMBER = re.compile(r"\d+")


def swaps(text: str) -> list[str]:
    """Devices and files in /proc/swaps."""
    return [line.split()[0] for line in text.splitlines()[1:] if line.strip()]


def settings(text: str) -> list[dict[str, str]]:
    """Blocks of `systemctl show`."""
    blocks = (block.splitlines() for block in text.strip().split("\n\n"))
    return [dict(line.split("=", 1) for line in block if "=" in line) for block in blocks]


def proxies(environment: Mapping[str, str], files: Iterable[str]) -> dict[str, str]:
    """Proxy variables, by small letters, of an environment and of files such as /etc/environment."""
    found = dict(environment)
    for text in files:
        lines = (line.strip().removeprefix("export ") for line in text.splitlines() if "=" in line)
        found.update(
            (name.strip(), value.strip().strip("\"'")) for name, value in (line.split("=", 1) for line in lines)
        )
    names = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
    return {name.lower(): value for name, value in found.items() if name.lower() in names and value}


def direct(no_proxy: str, name: str) -> bool:
    """Whether no_proxy names a host, its domain or all hosts."""
    return any(name == part or name.endswith("." + part.lstrip(".")) or part == "*" for part in _words(no_proxy))


def _words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]


def natural(text: str) -> tuple[int, ...]:
    """A key that sorts versions by their numbers."""
    return tuple(map(int, _NUMBER.findall(text)))


def closed_ports(rules: str, ports: Iterable[int]) -> list[int]:
    """TCP ports that the host's firewall closes to all other hosts. Rules of sources and interfaces prove nothing.

    A blocked connection is another finding.
    """
    return [port for port in ports if firewall_text.state(rules, port) == firewall_text.CLOSED]


def acs_bridges(text: str) -> list[str]:
    """PCI bridges with ACS redirection, from `lspci -vvv`."""
    found: list[str] = []
    bridge = ""
    for line in text.splitlines():
        if line[:1].strip():
            bridge = line.split()[0]
        elif "ACSCtl:" in line and re.search(r"(ReqRedir|CmpltRedir)\+", line):
            found.append(bridge)
    return found


def cgroup_type(mountinfo: str) -> str:
    """File system at /sys/fs/cgroup, from /proc/self/mountinfo. The last mount there is in effect."""
    types = [line.split(" - ")[1].split()[0] for line in mountinfo.splitlines() if line.split()[4] == "/sys/fs/cgroup"]
    return types[-1] if types else ""


def release(printed: str) -> str:
    """Release in the version that slurmd or kubelet prints, such as 24.11 or 1.36; empty for other text."""
    match = re.search(r"(\d+\.\d+)[.\d]*\s*$", printed.strip())
    return match[1] if match else ""
