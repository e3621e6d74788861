# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the NFS mounts of a host to those of the intent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from ...core.converge import Step

INSTALL, MOUNT, REMOUNT, UNIT, UNMOUNT, RESUME = "install", "mount", "remount", "unit", "unmount", "resume"


@dataclass(frozen=True)
class Mount:
    """One NFS mount."""

    source: str
    shown: Mapping[str, str]
    """Its options that the kernel shows, those of text.OWNED among them."""
    finding: str = ""
    """Why the mount gives no answer; empty for one that works."""

    def line(self, path: str) -> str:
        """As in /proc/mounts, without options that the intent does not have."""
        words = [f"{name}={value}" for name, value in self.shown.items()]
        return f"{self.source} {path} nfs {','.join(words)}{f' ({self.finding})' if self.finding else ''}"


@dataclass(frozen=True)
class NfsState:
    """NFS on this host."""

    mounts: Mapping[str, Mount]
    """Wanted places, and places of Drawbridge's units, that have an NFS mount."""
    units: Mapping[str, str]
    """Texts of Drawbridge's mount units by mount point."""
    client: bool = True
    """The NFS client's package is installed."""
    drained: bool = False
    """Drawbridge's drain keeps jobs off."""
    foreign: frozenset[str] = field(default=frozenset(), compare=False)
    """Wanted places where something else is mounted."""

    def lines(self) -> list[str]:
        """Client, mounts, and the lines of the units."""
        return [
            *(["NFS client"] if self.client else []),
            *(mount.line(path) for path, mount in sorted(self.mounts.items())),
            *(f"{path}: {line}" for path, unit in sorted(self.units.items()) for line in unit.splitlines() if line),
            *(["drained for a change of NFS mounts"] if self.drained else []),
        ]


def plan(have: NfsState, want: NfsState) -> list[Step[NfsState]]:
    """Install, unmount what the intent lacks, then mount. What unmounts disturbs jobs."""
    steps: list[Step[NfsState]] = []
    if not have.client:
        steps.append(Step("install the NFS client", lambda state: replace(state, client=True), (INSTALL, "")))
    steps += [_leave(have, path) for path in have.units if path not in want.mounts]
    for path in want.mounts:
        steps += _step(have, want, path)
    if have.drained:
        # what waits for an empty node also needs it drained
        waits, freed = any(step.disturbs for step in steps), partial(replace, drained=False)
        steps.append(Step("let Slurm use the node again", freed, (RESUME, ""), disturbs=waits))
    return steps


def unfinished(before: Mapping[str, Mount], have: NfsState, want: NfsState) -> list[str]:
    """Places where jobs would miss a mount: it is neither as wanted, nor as before and with an answer."""
    return [
        path
        for path, wanted in want.mounts.items()
        if (mounted := have.mounts.get(path)) is None or mounted.finding or mounted not in (wanted, before.get(path))
    ]


def _step(have: NfsState, want: NfsState, path: str) -> list[Step[NfsState]]:
    mounted, wanted = have.mounts.get(path), want.mounts[path]
    done = partial(_mounted, want=want, path=path)
    sentence = f"mount {wanted.source} at {path}"
    if path in have.foreign:
        refused = f"{path} is where {wanted.source} belongs, but something else is mounted there; unmount it first"
        return [Step(sentence, done, (MOUNT, path), refused=refused)]
    if mounted is None:
        return [Step(sentence, done, (MOUNT, path))]
    if why := _stale(have, want, path):
        return [Step(f"{sentence} again: {why}", done, (REMOUNT, path), disturbs=True)]
    if mounted.finding:
        refused = (
            f"{wanted.source} at {path} {mounted.finding}; check the server and the network to it. Processes that wait"
            " for it go on when it answers"
        )
        return [Step(f"wait for {wanted.source} at {path}", done, (MOUNT, path), refused=refused)]
    if have.units.get(path) != want.units[path]:
        return [Step(f"write the unit that mounts {path} at boot", done, (UNIT, path))]
    return []


STALE = "has a stale file handle"
"""The finding of a mount whose export was replaced on the server. Only a new mount helps."""


def _stale(have: NfsState, want: NfsState, path: str) -> str:
    """Why the mount must be made again; empty if it need not."""
    mounted, wanted, unit = have.mounts[path], want.mounts[path], have.units.get(path)
    if mounted.source != wanted.source:
        return f"{mounted.source} is mounted there"
    differs = [
        f"{name} is {mounted.shown[name]} instead of {value}"
        for name, value in wanted.shown.items()
        if mounted.shown[name] != value
    ]
    if not differs and mounted.finding == STALE:
        return f"it {STALE}"
    if not differs and unit and _options(unit) != _options(want.units[path]):
        return f"options were {_options(unit)}"
    return ", ".join(differs)


def _options(unit: str) -> str:
    return next((line.partition("=")[2] for line in unit.splitlines() if line.startswith("Options=")), "")


def _leave(have: NfsState, path: str) -> Step[NfsState]:
    gone = partial(_gone, path=path)
    if path not in have.mounts:
        return Step(f"remove the unit that mounts {path} at boot", gone, (UNMOUNT, path))
    sentence = f"unmount {have.mounts[path].source} from {path}, which the intent does not have"
    return Step(sentence, gone, (UNMOUNT, path), disturbs=True)


def _mounted(state: NfsState, want: NfsState, path: str) -> NfsState:
    mounts, units = {**state.mounts, path: want.mounts[path]}, {**state.units, path: want.units[path]}
    return replace(state, mounts=mounts, units=units)


def _gone(state: NfsState, path: str) -> NfsState:
    mounts, units = dict(state.mounts), dict(state.units)
    mounts.pop(path, None)
    units.pop(path, None)
    return replace(state, mounts=mounts, units=units)
