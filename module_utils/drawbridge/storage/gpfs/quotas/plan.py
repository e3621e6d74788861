# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the limits of filesets to the wanted ones. Filesets that are not listed keep theirs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ....core.converge import Step
from ....core.quantities import count

UNITS = ((30, "TiB"), (20, "GiB"), (10, "MiB"), (0, "KiB"))


@dataclass(frozen=True)
class Pair:
    """A soft and a hard limit; 0 is none."""

    soft: int = 0
    hard: int = 0

    @staticmethod
    def both(limit: int) -> Pair:
        """The same limit twice, so that no grace period matters."""
        return Pair(limit, limit)


@dataclass(frozen=True)
class Quota:
    """Limits of one fileset, and what it uses; blocks in KiB."""

    block: Pair = field(default_factory=Pair)
    files: Pair = field(default_factory=Pair)
    block_used: int = field(default=0, compare=False)
    files_used: int = field(default=0, compare=False)

    def arguments(self) -> list[str]:
        """As mmsetquota takes them. Both pairs, because one alone may reset the other."""
        block, files = self.block, self.files
        return ["--block", f"{block.soft}K:{block.hard}K", "--files", f"{files.soft}:{files.hard}"]


@dataclass(frozen=True)
class QuotaState:
    """Limits of the wanted filesets by name."""

    quotas: Mapping[str, Quota]
    faults: tuple[str, ...] = field(default=(), compare=False)
    """Why limits would have no effect."""

    def lines(self) -> list[str]:
        """As mmsetquota takes them."""
        return [" ".join((name, *quota.arguments())) for name, quota in sorted(self.quotas.items())]


def plan(have: QuotaState, want: QuotaState) -> list[Step[QuotaState]]:
    """One step for each fileset whose limits differ."""
    none = Quota()
    changed = {name: it for name, it in want.quotas.items() if have.quotas.get(name, none) != it}
    limited = any(quota != none for quota in want.quotas.values())
    refused = "; ".join(have.faults) if limited else ""
    if refused and not changed:
        return [Step("limit filesets", lambda state: state, refused=refused)]
    return [replace(_step(name, quota), refused=refused) for name, quota in changed.items()]


def too_small(name: str, have: Quota, want: Quota) -> str:
    """A sentence for a limit below the usage; empty for one that leaves room."""
    over = []
    if 0 < want.block.hard < have.block_used:
        over.append(f"{size(have.block_used)} of {size(want.block.hard)}")
    if 0 < want.files.hard < have.files_used:
        over.append(f"{have.files_used:,} of {count(want.files.hard, 'inode')}")
    return f"fileset {name} uses {' and '.join(over)}, so its users can only delete" if over else ""


def size(kib: int) -> str:
    """A size in the largest unit in which it is a whole number, such as 10 TiB."""
    shift, unit = next(it for it in UNITS if not kib % (1 << it[0]))
    return f"{kib >> shift:,} {unit}"


def _step(name: str, quota: Quota) -> Step[QuotaState]:
    def becomes(state: QuotaState) -> QuotaState:
        return replace(state, quotas={**state.quotas, name: quota})

    block = size(quota.block.hard) if quota.block.hard else "any size"
    files = count(quota.files.hard, "inode") if quota.files.hard else "any number of inodes"
    return Step(f"limit fileset {name} to {block} and {files}", becomes, (name, quota))
