# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plan of a daemon whose files may be the site's still: copies of these come first, with consent if lines vanish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...core.consent import Consent
from ...core.converge import Step
from ...core.daemon import plan as daemon
from ...core.daemon.plan import DaemonState
from . import report
from .model import Change

COPIES = "/var/lib/drawbridge/before/slurm"
"""Folder with copies of the site's files."""
CONSENT = "may_drop"
OVERRIDING = "/topology.yaml"
"""The file of a controller that wins over one of Drawbridge's."""


@dataclass(frozen=True)
class TakeoverState(DaemonState):
    """The daemon, and what becomes of files that Drawbridge has not written."""

    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict, compare=False)
    """By path."""
    stale: frozenset[str] = field(default=frozenset(), compare=False)
    """Files of the site that would win over those that the daemon fetches from the controller."""

    def lines(self) -> list[str]:
        """The daemon's state, and files that must go."""
        return [*(f"{path} of the site" for path in sorted(self.stale)), *super().lines()]


def plan(have: DaemonState, want: DaemonState, refresh: str = "restart") -> list[Step[DaemonState]]:
    """Copies of the site's files, then the daemon's steps, then stale files.

    A file that Drawbridge has written is changed without consent: its first line says so.
    """
    if not isinstance(have, TakeoverState):
        return daemon.plan(have, want, refresh)
    own = {path for path in have.stale if path.endswith(OVERRIDING)}
    # a controller would go on with such a file, so it goes before the controller reads its files again
    steps = daemon.plan(replace(have, current=False) if own else have, want, refresh)
    waits = any(step.disturbs for step in steps)
    first = [_take_over(have.changes, waits)] if have.changes else []
    before, after = ([_move_away(it, waits) for it in sorted(paths)] for paths in (own, have.stale - own))
    return [*first, *before, *steps, *after]


def _take_over(changes: Mapping[str, Sequence[Change]], disturbs: bool) -> Step[DaemonState]:
    paths = ", ".join(changes)
    reason = f"take over {paths}: {report.counted(changes)}; copies are in {COPIES}"
    lost = len(report.dropped(changes))
    why = (
        f"{lost} lines of the live Slurm would vanish or lose their value. Add to the intent what must stay; to drop"
        " the rest, set"
    )
    consent = Consent(CONSENT, why) if lost else None
    return Step(reason, lambda state: state, ("copy", ""), disturbs=disturbs, consent=consent)


def _move_away(path: str, disturbs: bool) -> Step[DaemonState]:
    def becomes(state: DaemonState) -> DaemonState:
        return replace(state, stale=state.stale - {path}) if isinstance(state, TakeoverState) else state

    instead = "slurmctld would read it instead of topology.conf"
    nodes = "commands here would read it instead of the controller's"
    reason = f"move {path} to {COPIES}, because {instead if path.endswith(OVERRIDING) else nodes}"
    return Step(reason, becomes, ("move", path), disturbs=disturbs)
