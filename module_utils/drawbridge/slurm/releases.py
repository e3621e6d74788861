# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between Slurm's releases for whoever writes its files: one row a release, oldest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WHOLE_NODES = {"OverSubscribe": "EXCLUSIVE"}


@dataclass(frozen=True)
class Release:
    """One release of Slurm. All of them replace their daemons by new processes at a reconfigure (since 23.11)."""

    name: str
    no_cgroups: str = "disabled"
    """CgroupPlugin where cgroups can't confine jobs; empty: Slurm needs no line for that."""
    block_sizes: str = "BlockSizes"
    """Key of topology/block for the sizes of its blocks; empty: it has only levels, which say nothing of sizes."""
    whole_nodes: Mapping[str, str] = field(default_factory=lambda: WHOLE_NODES)
    """What makes a partition's jobs own their nodes."""


_ALL = (
    Release("23.11", no_cgroups="", block_sizes=""),
    Release("24.05"),
    Release("24.11"),
    Release("25.05"),
    Release("25.11"),
    Release("26.05", whole_nodes={"Exclusive": "NODE"}),
)
RELEASES = {release.name: release for release in _ALL}
"""Releases whose files we can write. `scontrol --version` prints one more number, that of the correction."""


def of_version(printed: str) -> str:
    """The release in what `slurmctld -V` prints, such as `slurm-wlm 24.11.5`; empty for anything else."""
    words = printed.split()
    return ".".join(words[-1].split(".")[:2]) if words else ""
