# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the policy of a file system to the one with rules for projects. The site's rules stay as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....core.consent import Consent
from ....core.converge import Step
from ....core.quantities import count
from . import text

SYSTEM = "system"


@dataclass(frozen=True)
class PolicyState:
    """The installed policy, empty for none; `pools` are those that the file system has, empty if not known."""

    policy: str
    pools: frozenset[str] = field(default=frozenset(), compare=False)

    def lines(self) -> list[str]:
        """The policy's lines."""
        return self.policy.splitlines()


@dataclass(frozen=True)
class Wanted:
    """Pools of new files: by fileset, and of all others where no rule of the site places them (empty: not given)."""

    device: str
    pools: Mapping[str, str]
    default_pool: str = ""
    keep: frozenset[str] = frozenset()
    """Filesets of other runs, whose rules stay as they are."""


def plan(have: PolicyState, wanted: Wanted) -> list[Step[PolicyState]]:
    """One step at most, because GPFS replaces a policy as a whole."""
    old = text.block_of(have.policy)
    if old is None and not wanted.pools:
        return []
    rest, pools = text.without_block(have.policy), _pools(old or "", wanted)
    new = text.with_block(have.policy, text.block(pools, rest, wanted.default_pool or SYSTEM))
    if new == have.policy:
        return []
    consent = _consent(wanted.device, rest) if old is None and have.policy else None
    reason = f"place new files of {count(len(pools), 'fileset')} by the policy of {wanted.device}"
    return [
        Step(
            reason,
            lambda state: PolicyState(new, state.pools),
            new,
            consent=consent,
            refused=_refused(have, wanted, rest, new),
        )
    ]


def _pools(old: str, wanted: Wanted) -> dict[str, str]:
    """Pools by fileset. Rules that exist keep their places, so that runs for some filesets do not undo one another."""
    found = {name: pool for name, pool in text.pools_of(old).items() if name in wanted.pools or name in wanted.keep}
    return {**found, **wanted.pools}


def _consent(device: str, rest: str) -> Consent:
    return Consent(
        "into_site_policy",
        f"{device} has a policy of {count(text.rule_count(rest), 'rule')} that Drawbridge did not write; to put"
        " rules of projects before its default rule, set",
    )


def _refused(have: PolicyState, wanted: Wanted, rest: str, new: str) -> str:
    known = ", ".join(sorted(have.pools))
    for name, pool in {**wanted.pools, "all others": wanted.default_pool}.items():
        if pool and have.pools and pool not in have.pools:
            return f"pool {pool}, for new files of {name}, is no pool of {wanted.device}; use one of {known}"
    if text.lacks_default(wanted.pools, rest) and not wanted.default_pool and have.pools != {SYSTEM}:
        found = f"pools {known}" if known else "pools that mmlsfs does not print"
        return (
            f"{wanted.device} has {found} and no placement rule; with rules of projects alone, GPFS would refuse all"
            " other files; name their pool in default_pool"
        )
    if len(new.encode(errors="surrogateescape")) > text.MOST_BYTES:
        return (
            f"the policy of {wanted.device} would have more than 1 MiB, which GPFS refuses; give fewer projects a pool"
        )
    return ""
