# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's releases by operating system and distributor, one row for each pair that exists.

From the package lists of Debian and Ubuntu, OpenHPC's releases 3.1 to 3.5 and 4.x, and SchedMD's slurm.spec and
debian/control.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..nodes.systems import SYSTEMS
from .packaging import PACKAGINGS
from .releases import RELEASES

OLDEST = next(iter(RELEASES))


@dataclass(frozen=True)
class Source:
    """Packages of one distributor for one system."""

    system: str
    packages: str
    releases: tuple[str, ...]
    """Releases that the packages have, too old ones too."""
    sackd: bool = True
    """The packages have sackd, which login hosts need."""
    seen: str = ""
    """Where the tests of this project run it; empty: nowhere."""

    @property
    def usable(self) -> tuple[str, ...]:
        """The releases that Drawbridge can configure."""
        return tuple(release for release in self.releases if release in RELEASES)


_EVERY = tuple(RELEASES)
_ALL = (
    Source("debian-12", "debian", ("22.05",), sackd=False),
    Source("debian-13", "debian", ("24.11",), seen="every run"),
    Source("ubuntu-22.04", "debian", ("21.08",), sackd=False),
    Source("ubuntu-24.04", "debian", ("23.11",)),
    Source("ubuntu-26.04", "debian", ("25.11",)),
    Source("rhel-9", "openhpc", ("23.11", "24.11", "25.11")),
    Source("rhel-10", "openhpc", ("25.05",)),
    *(Source(name, f"schedmd_{'deb' if it.manager == 'apt' else 'rpm'}", _EVERY) for name, it in SYSTEMS.items()),
    *(Source(name, "site", _EVERY) for name in SYSTEMS),
)
SOURCES = {(source.system, source.packages): source for source in _ALL}
_WORDS = {
    "debian": "its own packages",
    "openhpc": "OpenHPC's packages",
    "schedmd_deb": "SchedMD's packages",
    "schedmd_rpm": "SchedMD's packages",
    "site": "a Slurm of the site's",
}


def described(source: Source) -> str:
    """The packages in words, such as `its own packages`."""
    return _WORDS[source.packages]


def verdict(source: Source) -> str:
    """Whether the pair is seen or expected to work, or not supported, and why."""
    if not source.usable:
        return f"not supported: {OLDEST} is the oldest release that Drawbridge configures"
    if source.seen:
        return f"seen: {source.seen}"
    if source.packages == "site":
        return "expected: the files are the same; Drawbridge only checks that the release is the one of the intent"
    if source.packages.startswith("schedmd"):
        return "expected: names and paths are those of SchedMD's recipes, which the site builds"
    return "expected: names, paths and releases are those of the package lists"


def choices(system: str) -> list[str]:
    """Values of drawbridge_slurm.packages with a usable release for a system, the distributor's first."""
    return [name for name in PACKAGINGS if (system, name) in SOURCES and SOURCES[system, name].usable]
