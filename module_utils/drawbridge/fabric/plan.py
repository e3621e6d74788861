# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From a switch as it is to a switch as it should be, in sentences."""

from __future__ import annotations

from dataclasses import replace

from ..core import ports
from ..core.converge import Step
from .nos.dialect import Config, Dialect, Lines

PORT = "interface "


def plan(dialect: Dialect, have: Config, want: Config) -> list[Step[Config]]:
    """Steps in the order of `want`'s sections: maps and profile first, then the ports that refer to them.

    What earlier runs left behind goes first, since an open session of theirs blocks ours, and saving is last: a
    restart in between brings back what was there, never half of a change.
    """
    steps = [
        Step(
            f"abort the session {name}, which an earlier run left open", lambda config, gone=name: _forget(config, gone)
        )
        for name in have.stale
    ]
    changes = {name: lines for name, lines in want.sections if dict(have.sections).get(name, ()) != lines}
    if have.waiting:
        verb = "roll back" if changes else "confirm"
        reason = f"{verb} the session {have.waiting}, which an earlier run left waiting for its confirmation"
        steps.append(Step(reason, lambda config: replace(config, waiting="", saved=False)))
    steps += _section_steps(dialect, dict(have.sections), changes)
    if changes or have.waiting or not have.saved:
        reason = "save the running configuration, so that a restart keeps it"
        steps.append(Step(reason, lambda config: replace(config, saved=True)))
    return steps


def flapping(dialect: Dialect, have: Config, want: Config) -> list[str]:
    """Ports whose link goes down for a moment on the way."""
    before = dict(have.sections)
    return [
        name.removeprefix(PORT)
        for name, lines in want.sections
        if name.startswith(PORT) and dialect.flaps(before.get(name, ()), lines)
    ]


def _forget(config: Config, session: str) -> Config:
    return replace(config, stale=tuple(name for name in config.stale if name != session))


def _section_steps(dialect: Dialect, have: dict[str, Lines], changes: dict[str, Lines]) -> list[Step[Config]]:
    """One step for a section, or for all ports that need the same lines: a leaf's 32 ports are one sentence."""
    alike: dict[tuple[bool, Lines], list[str]] = {}
    for name, lines in changes.items():
        typed = dialect.remedy(have.get(name, ()), lines)
        key = (name.startswith(PORT), tuple(line.strip() for line in typed if line.strip() != name))
        alike.setdefault(key, []).append(name)
    steps: list[Step[Config]] = []
    for (are_ports, typed), names in alike.items():
        title = PORT + ports.compress([name.removeprefix(PORT) for name in names]) if are_ports else names[0]
        changed = {name: changes[name] for name in names}
        steps.append(Step(f"{title}: {'; '.join(typed)}", lambda config, new=changed: config.with_sections(new)))
    return steps
