# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that leaves Slurm: its daemons are off, and it has none of the cluster's secrets."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...core.converge import Step

GATE, SLURMD, MUNGE = "drawbridge-gate.timer", "slurmd.service", "munge.service"
SECRETS = ("/etc/munge/munge.key", "/var/lib/drawbridge/gate/node.token")


@dataclass(frozen=True)
class MemberState:
    """Units that are enabled or run, and the files with secrets."""

    units: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """One line for each unit and file."""
        return [*(f"{unit} enabled or running" for unit in self.units), *self.secrets]


def plan(have: MemberState, want: MemberState, why_not: str = "") -> list[Step[MemberState]]:
    """Stop the daemons, then remove the secrets: munged and the gate read them. `why_not` is why the node stays."""
    steps = [_stop(unit) for unit in have.units if unit not in want.units]
    steps += [_remove(path) for path in have.secrets if path not in want.secrets]
    return [replace(step, pending=why_not) for step in steps]


def _stop(unit: str) -> Step[MemberState]:
    def becomes(state: MemberState) -> MemberState:
        return replace(state, units=tuple(it for it in state.units if it != unit))

    return Step(f"stop and disable {unit}", becomes, ("stop", unit))


def _remove(path: str) -> Step[MemberState]:
    def becomes(state: MemberState) -> MemberState:
        return replace(state, secrets=tuple(it for it in state.secrets if it != path))

    return Step(f"remove {path}", becomes, ("remove", path))
