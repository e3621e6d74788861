# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the kubelet as it is to the one that the intent describes."""

from __future__ import annotations

from dataclasses import replace

from ..converge import Step
from ..dialects.kubelet_config import KubeletState, by_key

WRITE, ENABLE, RESTART = "write", "enable", "restart"


def plan(have: KubeletState, want: KubeletState) -> list[Step[KubeletState]]:
    """File, unit, daemon; all of it waits while the node is busy.

    Not even the file is written under a job: a kubelet that starts with other policies than its state files have
    refuses to start, and a crash or a power cut would start it.
    """
    steps = []
    if have.lines_of_file != want.lines_of_file:
        write = _changes(have.lines_of_file, want.lines_of_file)
        steps.append(Step(write, lambda s: replace(s, lines_of_file=want.lines_of_file, current=False), WRITE))
    if not have.enabled:
        steps.append(Step("start the kubelet at boot", lambda s: replace(s, enabled=True), ENABLE))
    stale = have.lines_of_file != want.lines_of_file or not have.current
    if not have.running or stale:
        reason = (
            "restart the kubelet with it, and forget the old policies' state" if have.running else "start the kubelet"
        )
        steps.append(Step(reason, lambda s: replace(s, running=True, current=True), RESTART))
    if have.running and have.busy:
        return [replace(step, pending=have.busy) for step in steps]
    return steps


def _changes(have: tuple[str, ...], want: tuple[str, ...]) -> str:
    """Name the keys that change, with their values where that stays readable."""
    old, new = by_key(have), by_key(want)
    if not old:
        return f"write the drop-in with {len(new)} keys"
    changed = [key for key in (*new, *(key for key in old if key not in new)) if old.get(key) != new.get(key)]
    shown = [f"{key} {old.get(key, 'unset')} -> {new.get(key, 'unset')}" for key in changed]
    return f"change the drop-in: {'; '.join(shown) or 'comments'}"
