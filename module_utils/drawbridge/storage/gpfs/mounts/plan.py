# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From GPFS as it is on a host to GPFS that runs with its settings and has its file systems mounted, or to none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ....core.converge import Step
from ..mmfsd import ACTIVE, DOWN

START, RESTART, MOUNT, RESUME, UNMOUNT, STOP = "start", "restart", "mount", "resume", "unmount", "stop"


@dataclass(frozen=True)
class ClientState:
    """GPFS on this host."""

    paths: Mapping[str, str]
    """Mount points by device."""
    daemon: str = ACTIVE
    """In mmgetstate's words, or that there is no cluster."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Values of the wanted attributes that the running daemon uses, in one spelling."""
    configured: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Values that the cluster has for this host's node class."""
    drained: bool = False
    """Drawbridge's drain keeps jobs off."""

    def lines(self) -> list[str]:
        """The daemon, its settings, then one line a mount as in /proc/mounts."""
        return [
            f"GPFS {self.daemon}",
            *(self._setting(name, value) for name, value in self.settings.items()),
            *(f"{device} {path} gpfs" for device, path in self.paths.items()),
            *(["drained for a change of GPFS"] if self.drained else []),
        ]

    def _setting(self, name: str, value: str) -> str:
        configured = self.configured.get(name, value)
        waits = "" if configured == value else f", configured {configured}: restart pending"
        return f"{name} effective {value}{waits}"


def plan(have: ClientState, want: ClientState) -> list[Step[ClientState]]:
    """Start GPFS, or restart it for settings that are read at the start; then mount. It never unmounts a running job's
    file system: a restart waits for a node without jobs."""
    steps: list[Step[ClientState]] = []
    state = have
    stale = [name for name, value in want.settings.items() if have.settings.get(name) != value]
    if have.daemon != ACTIVE:
        verb = f"wait for GPFS, which is {have.daemon}" if have.daemon not in (DOWN, "no cluster") else "start GPFS"
        steps.append(Step(verb, partial(_started, want=want), (START, "", "")))
    elif stale:
        steps.append(_restart(have, want, stale))
    for step in steps:
        state = state if step.pending else step.becomes(state)
    for device, path in want.paths.items():
        if state.paths.get(device) != path:
            step = Step(f"mount {device} at {path}", partial(_mounted, device=device, path=path), (MOUNT, device, path))
            steps.append(replace(step, disturbs=any(it.disturbs for it in steps) and device in have.paths))
    if have.drained:
        steps.append(Step("let Slurm use the node again", lambda s: replace(s, drained=False), (RESUME, "", "")))
    return steps


def leave(have: ClientState, want: ClientState, why_not: str = "") -> list[Step[ClientState]]:
    """Unmount everything and stop GPFS. `why_not` is why the node is still in use."""
    steps = [
        Step(
            f"unmount {device} from {path}",
            partial(_unmounted, device=device),
            (UNMOUNT, device, path),
            disturbs=True,
            refused=why_not,
        )
        for device, path in have.paths.items()
    ]
    if have.daemon not in (want.daemon, "no cluster"):
        steps.append(
            Step("stop GPFS", lambda s: replace(s, daemon=DOWN), (STOP, "", ""), disturbs=True, refused=why_not)
        )
    return steps


def _restart(have: ClientState, want: ClientState, stale: list[str]) -> Step[ClientState]:
    """A restart helps only if the cluster has the new values."""
    have_want = {name: (have.settings.get(name, "unknown"), want.settings[name]) for name in stale}
    named = ", ".join(f"{name} is {old} instead of {new}" for name, (old, new) in have_want.items())
    behind = [name for name in stale if have.configured.get(name) != want.settings[name]]
    pending = (
        f"the cluster has not got {', '.join(behind)} for this host's node class; its admin host sets that first"
        if behind
        else ""
    )
    becomes = partial(_started, want=want, paths={})
    return Step(f"restart GPFS: {named}", becomes, (RESTART, "", ""), pending, disturbs=True)


def _started(state: ClientState, want: ClientState, paths: Mapping[str, str] | None = None) -> ClientState:
    kept = state.paths if paths is None else paths
    return replace(state, daemon=ACTIVE, settings=want.settings, configured=want.settings, paths=kept)


def _mounted(state: ClientState, device: str, path: str) -> ClientState:
    return replace(state, paths={**state.paths, device: path})


def _unmounted(state: ClientState, device: str) -> ClientState:
    return replace(state, paths={name: path for name, path in state.paths.items() if name != device})
