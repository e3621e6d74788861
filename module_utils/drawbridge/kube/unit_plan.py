# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes daemon with its files; Drawbridge's files that no option names any more are removed."""

from __future__ import annotations

from dataclasses import replace

from ..core.converge import Step
from ..core.daemon import plan as daemon
from ..core.daemon.plan import DaemonState

REMOVE = "remove"


def plan(have: DaemonState, want: DaemonState) -> list[Step[DaemonState]]:
    """No daemon reads the removed files again, so they need no restart."""
    return [*(_without(path) for path in have.files if path not in want.files), *daemon.plan(have, want)]


def _without(path: str) -> Step[DaemonState]:
    def becomes(state: DaemonState) -> DaemonState:
        return replace(state, files={other: entry for other, entry in state.files.items() if other != path})

    return Step(f"remove {path}", becomes, (REMOVE, path))
