# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the kubelet as it is to the one that the intent describes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ...core.converge import Step
from .text import by_key

WRITE, ENABLE, RESTART, RELEASE, FORGET = "write", "enable", "restart", "release", "forget"


@dataclass(frozen=True)
class KubeletState:
    """A node's kubelet, as far as it is ours: the drop-in, and the daemon that must have read it."""

    lines_of_file: tuple[str, ...]
    enabled: bool
    running: bool
    """The kubelet runs and answers its health check."""
    current: bool
    """The running kubelet was started after the drop-in was last written."""
    outdated: tuple[str, ...] = ()
    """State files of the kubelet's managers that a kubelet with the wanted content refuses."""
    held: bool = False
    """An earlier run keeps jobs off the node, and did not get to its end."""
    member: bool = field(default=True, compare=False)
    """The host is a member of a cluster. One that is not yet is started by who makes it one, with the drop-in there."""

    def lines(self) -> list[str]:
        """The drop-in, and two lines about the daemon."""
        daemon = "stopped" if not self.running else "running" if self.current else "running with older content"
        held = ["Slurm: drained for a change of the kubelet"] if self.held else []
        return [*self.lines_of_file, f"kubelet.service: {'enabled' if self.enabled else 'disabled'}, {daemon}", *held]


def plan(have: KubeletState, want: KubeletState) -> list[Step[KubeletState]]:
    """File, unit, daemon; all of it waits while somebody uses the node. On a host that is no member yet the file alone.

    Not even the file is written under a job: a kubelet that starts with other policies than its state files have
    refuses to start, and a crash or a power cut would start it. One that is down waits with its change too: its pods
    run on without it. Only to start it as it was can't hurt them.
    """
    steps = []
    rewrites = have.lines_of_file != want.lines_of_file
    if rewrites:
        write = _changes(have.lines_of_file, want.lines_of_file)
        steps.append(Step(write, lambda s: replace(s, lines_of_file=want.lines_of_file, current=False), WRITE))
    if not (have.running or have.member):
        return [*steps, *_forgotten(have)]
    if not have.enabled:
        steps.append(Step("start the kubelet at boot", lambda s: replace(s, enabled=True), ENABLE))
    disturbs = have.running or rewrites or bool(have.outdated)
    if not have.running or rewrites or not have.current:
        steps.append(Step(_restart(have, disturbs), _restarted, RESTART))
    elif have.held:
        steps.append(Step("let Slurm use the node again", lambda s: replace(s, held=False), RELEASE))
    return [replace(step, disturbs=disturbs and step.payload != RELEASE) for step in steps]


def _restarted(state: KubeletState) -> KubeletState:
    return replace(state, running=True, current=True, outdated=(), held=False)


def _forgotten(have: KubeletState) -> list[Step[KubeletState]]:
    """State files of a member of before: the kubelet that is started next would die of them."""
    if not have.outdated:
        return []
    return [Step(f"forget {', '.join(have.outdated)}", lambda s: replace(s, outdated=()), FORGET)]


def _restart(have: KubeletState, disturbs: bool) -> str:
    """Say it with the state files that go: pods of before would lose what they say."""
    start = "restart" if have.running else "start"
    verb = f"drain the node, {start} the kubelet with it, resume" if disturbs else "start the kubelet"
    return f"{verb}; forget {', '.join(have.outdated)}" if have.outdated else verb


def _changes(have: tuple[str, ...], want: tuple[str, ...]) -> str:
    """Name the keys that change, with their values where that stays readable."""
    old, new = by_key(have), by_key(want)
    if not old:
        return f"write the drop-in with {len(new)} keys"
    changed = [key for key in (*new, *(key for key in old if key not in new)) if old.get(key) != new.get(key)]
    shown = [f"{key} {old.get(key, 'unset')} -> {new.get(key, 'unset')}" for key in changed]
    return f"change the drop-in: {'; '.join(shown) or 'comments'}"
