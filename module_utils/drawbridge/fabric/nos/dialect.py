# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What the dialect of a network operating system must know, and how it is found by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Callable, Protocol

from ..model import SwitchProfile
from ..plan import Config, Lines

OURS = "drawbridge-"
"""How the names of our configuration sessions begin: others are never touched."""


class DialectError(ValueError):
    """An answer that the dialect can't take; the message is one sentence without the switch's name."""


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


def dialect(system: str) -> Dialect:
    """The dialect of one of SYSTEMS. Raises ImportError when a package of the controller is missing."""
    return import_module(f".{system}.text", __package__).DIALECT
