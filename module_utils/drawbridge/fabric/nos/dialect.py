# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What switch dialects have in common: the state of a switch as we own it, and what a dialect must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Callable, Protocol

from ..view import SwitchProfile

Lines = tuple[str, ...]

OURS = "drawbridge-"
"""How the names of our configuration sessions begin: others are never touched."""


class DialectError(ValueError):
    """An answer that the dialect can't take; the message is one sentence without the switch's name."""


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


class Commands(Protocol):
    """What is typed to make a change a transaction; each function takes the session's name."""

    save: str

    def enter(self, session: str) -> str:
        """Open a candidate of the running configuration."""
        ...

    def try_out(self, seconds: int) -> str:
        """Inside the session: put it in force, to be rolled back after so many seconds."""
        ...

    def confirm(self, session: str) -> str:
        """Keep what is in force."""
        ...

    def abort(self, session: str) -> str:
        """Drop a session, or roll back one that is in force for a time."""
        ...


@dataclass(frozen=True)
class Dialect:
    """A network operating system: the only place that knows its words."""

    device_type: str
    """Netmiko's name for it."""
    refusal: str
    """Regular expression of a line by which it says no."""
    reads: Lines
    """Commands whose answers `parse` takes, in this order."""
    parse: Callable[[Sequence[str], SwitchProfile], Config]
    """Project the answers onto what we own. Raises DialectError."""
    render: Callable[[SwitchProfile], Config]
    """The wanted state."""
    remedy: Callable[[Lines, Lines], list[str]]
    """The lines to type that make one section what it should be."""
    flaps: Callable[[Lines, Lines], bool]
    """Whether that takes a link down for a moment."""
    commands: Commands
