# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Operating systems of nodes, controllers and login hosts, one row a system.

Python is the system's own; Ansible needs 3.9. From the distributions' package lists.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class System:
    """One release of an operating system."""

    name: str
    """Its word in the intent."""
    title: str
    manager: str
    """apt or dnf."""
    python: str
    word: str
    """What versions of packages of this release contain, such as ubuntu or deb13."""
    cgroups: str = "v2"
    seen: bool = False
    """The tests of this project run it."""


_ALL = (
    System("debian-12", "Debian 12", "apt", "3.11", "deb12"),
    System("debian-13", "Debian 13", "apt", "3.13", "deb13", seen=True),
    System("ubuntu-22.04", "Ubuntu 22.04", "apt", "3.10", "22.04"),
    System("ubuntu-24.04", "Ubuntu 24.04", "apt", "3.12", "24.04"),
    System("ubuntu-26.04", "Ubuntu 26.04", "apt", "3.14", "26.04"),
    System("rhel-9", "RHEL, AlmaLinux, Rocky Linux 9", "dnf", "3.9", "el9"),
    System("rhel-10", "RHEL, AlmaLinux, Rocky Linux 10", "dnf", "3.12", "el10"),
)
SYSTEMS = {system.name: system for system in _ALL}
