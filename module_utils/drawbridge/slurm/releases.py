# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Differences of Slurm's releases in their configuration files: one row a release, oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WHOLE_NODES = {"OverSubscribe": "EXCLUSIVE"}


@dataclass(frozen=True)
class Release:
    """One release of Slurm. Since 23.11 a reconfigure replaces the daemons by new processes."""

    name: str
    no_cgroups: str = "disabled"
    """CgroupPlugin where cgroups can't confine jobs; empty: no line is needed."""
    block_sizes: str = "BlockSizes"
    """Key of topology/block for block sizes; empty: the release has none."""
    whole_nodes: Mapping[str, str] = field(default_factory=lambda: WHOLE_NODES)
    """Words of a partition whose jobs get whole nodes."""


_ALL = (
    Release("23.11", no_cgroups="", block_sizes=""),
    Release("24.05"),
    Release("24.11"),
    Release("25.05"),
    Release("25.11"),
    Release("26.05", whole_nodes={"Exclusive": "NODE"}),
)
RELEASES = {release.name: release for release in _ALL}


def of_version(printed: str) -> str:
    """The release in the output of `slurmctld -V`, such as `slurm-wlm 24.11.5`; empty for other text."""
    words = printed.split()
    return ".".join(words[-1].split(".")[:2]) if words else ""
