# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From a switch as it is to a switch as it should be: sentences for people, and the lines that are typed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..core import ports
from ..core.consent import Consent
from ..core.converge import Step

Lines = tuple[str, ...]

PORT = "interface "
PROMPT, CANDIDATE, CONFIRM = "prompt", "candidate", "confirm"
"""Where a step's lines are typed: at the prompt, into the candidate that makes all changes one, or at the prompt after
a proof of what is in force."""


@dataclass(frozen=True)
class Config:
    """The lines that we own on a switch, and what stands between them and being there to stay."""

    sections: tuple[tuple[str, Lines], ...]
    """Owned lines by section, such as `interface Ethernet1`; defaults that the switch hides are written out."""
    saved: bool = True
    """The startup configuration has the same owned lines: a restart changes nothing."""
    stale: Lines = ()
    """Sessions that an earlier run opened and left."""
    waiting: str = ""
    """Session of an earlier run that is in force, but rolls back unless it is confirmed."""
    foreign: Lines = field(default=(), compare=False)
    """Sessions of other people that a change of ours would collide with, each with its owner."""
    unproven: Lines = field(default=(), compare=False)
    """Where the hardware does not do what the lines say, each as a sentence."""

    def lines(self) -> list[str]:
        """The owned lines as the switch prints them, then remarks on what is not there to stay."""
        remarks = [f"! session {name} was left open" for name in self.stale]
        remarks += [f"! session {self.waiting} waits for its confirmation"] if self.waiting else []
        remarks += [] if self.saved else ["! startup-config differs"]
        return [*(line for _, lines in self.sections for line in lines), *remarks]

    def with_sections(self, changed: dict[str, Lines]) -> Config:
        """The same with other lines in some sections; a restart would bring the old ones back."""
        merged = {**dict(self.sections), **changed}
        return replace(self, sections=tuple(merged.items()), saved=False)


@dataclass(frozen=True)
class Typed:
    """What a step types, and where."""

    place: str
    lines: Lines
    session: str = ""
    """The session that the lines end."""


class Ending(Protocol):
    """What is typed at the prompt to end a session, and to save."""

    save: str

    def confirm(self, session: str) -> str:
        """Keep what is in force."""
        ...

    def abort(self, session: str) -> str:
        """Drop a session, or roll back one that is in force for a time."""
        ...


class Vocabulary(Protocol):
    """What the plan takes from a dialect."""

    @property
    def commands(self) -> Ending:
        """For sessions."""
        ...

    def remedy(self, have: Lines, want: Lines, /) -> list[str]:
        """The lines to type that make one section what it should be."""
        ...

    def flaps(self, have: Lines, want: Lines, /) -> bool:
        """Whether that takes a link down for a moment."""
        ...


def plan(words: Vocabulary, have: Config, want: Config) -> list[Step[Config]]:
    """Steps in the order of `want`'s sections: maps and profile first, then the ports that refer to them.

    What earlier runs left behind goes first, since an open session of theirs blocks ours, and saving is last: a
    restart in between brings back what was there, never half of a change. While an earlier run's session is in force
    that is not what we want, everything waits: what it rolls back to is seen only when it has.
    """
    steps = [_aborted(words, name) for name in have.stale]
    changes = {name: lines for name, lines in want.sections if dict(have.sections).get(name, ()) != lines}
    if have.waiting and not changes:
        reason = f"confirm the session {have.waiting}, which an earlier run left waiting for its confirmation"
        typed = Typed(CONFIRM, (words.commands.confirm(have.waiting),), have.waiting)
        steps.append(Step(reason, lambda config: replace(config, waiting="", saved=False), typed))
    steps += _section_steps(words, dict(have.sections), changes)
    if changes or have.waiting or not have.saved:
        reason = "save the running configuration, so that a restart keeps it"
        typed = Typed(PROMPT, (words.commands.save,))
        steps.append(Step(reason, lambda config: replace(config, saved=True), typed))
    pending = _rolling_back(have.waiting) if have.waiting and changes else ""
    refused = _colliding(words, have.foreign[0]) if have.foreign else ""
    return [replace(step, pending=pending, refused=refused) for step in steps]


def flapping(words: Vocabulary, have: Mapping[str, Lines], changes: Mapping[str, Lines]) -> list[str]:
    """Ports whose link goes down for a moment on the way."""
    return [
        name.removeprefix(PORT)
        for name, lines in changes.items()
        if name.startswith(PORT) and words.flaps(have.get(name, ()), lines)
    ]


def _aborted(words: Vocabulary, session: str) -> Step[Config]:
    def becomes(config: Config) -> Config:
        return replace(config, stale=tuple(name for name in config.stale if name != session))

    typed = Typed(PROMPT, (words.commands.abort(session),), session)
    return Step(f"abort the session {session}, which an earlier run left open", becomes, typed)


def _rolling_back(session: str) -> str:
    return (
        f"the session {session} of an earlier run is in force, is not what is wanted now, and waits for its"
        " confirmation; the switch rolls it back by itself when its timer ends, within minutes; run this again then"
    )


def _colliding(words: Vocabulary, foreign: str) -> str:
    return (
        f"somebody else's configuration session {foreign} is open and would undo this change when it is committed;"
        f" end it there, or on the switch with: {words.commands.abort(foreign.split()[0])}"
    )


def _section_steps(words: Vocabulary, have: Mapping[str, Lines], changes: Mapping[str, Lines]) -> list[Step[Config]]:
    """One step for a section, or for all ports that need the same lines: a leaf's 32 ports are one sentence."""
    typed = {name: tuple(line.strip() for line in words.remedy(have.get(name, ()), changes[name])) for name in changes}
    alike: dict[tuple[bool, Lines], list[str]] = {}
    for name, lines in typed.items():
        alike.setdefault((name.startswith(PORT), tuple(line for line in lines if line != name)), []).append(name)
    flaps = flapping(words, have, changes)
    consent = _consent(flaps)
    steps: list[Step[Config]] = []
    for (are_ports, shown), names in alike.items():
        title = PORT + ports.compress([name.removeprefix(PORT) for name in names]) if are_ports else names[0]
        changed = {name: changes[name] for name in names}
        steps.append(
            Step(
                f"{title}: {'; '.join(shown)}",
                lambda config, new=changed: config.with_sections(new),
                Typed(CANDIDATE, tuple(line for name in names for line in typed[name])),
                consent=consent if any(name.removeprefix(PORT) in flaps for name in names) else None,
            )
        )
    return steps


def _consent(flaps: list[str]) -> Consent:
    why = f"a new MTU takes the links of {ports.compress(flaps)} down for a moment; drain what runs over them and add"
    return Consent("may_flap_ports", f"{why} the line:")
