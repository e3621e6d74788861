# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The dialect of a network operating system, and how it is found by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Callable

from ..model import SwitchProfile
from ..plan import Config, Lines, Syntax
from .state import StateRead, no_state

SESSION_PREFIX = "drawbridge-"
"""How the names of Drawbridge's configuration sessions begin. It aborts no other session."""
SLOW = 5


class DialectError(ValueError):
    """An answer that the dialect can't take; the message is one sentence without the switch's name."""


@dataclass(frozen=True)
class Dialect(Syntax):
    """A network operating system: no other file contains its commands."""

    device_type: str
    """Netmiko's name for it."""
    prompt: str
    """Regular expression of what follows the name in a prompt."""
    opening: Lines
    """Lines that each SSH session begins with."""
    enables: bool
    """It needs netmiko's enable(); where a login is a shell, that would make it root's."""
    refusal: str
    """Regular expression of a line that refuses a command."""
    slow: str
    """Regular expression of lines that may take SLOW times as long as others."""
    reads: Lines
    """Commands whose answers `parse` takes, in this order."""
    parse: Callable[[Sequence[str], SwitchProfile], Config]
    """Project the answers onto the lines that Drawbridge owns. Raises DialectError."""
    render: Callable[[SwitchProfile], Config]
    """The wanted state."""
    state_reads: Callable[[SwitchProfile], tuple[StateRead, ...]] = no_state
    """Commands for counters and LLDP neighbours; none if Drawbridge can't read them on this system yet."""
    keeps: Callable[[str, int], Lines] = lambda name, seconds: ()
    """(session, seconds) -> lines that keep a change where only the SSH session that made it can: typed there, after
    the proof over another one. Empty: `confirm` keeps it, from any SSH session."""
    timer_unit_s: int = 1
    """What the time until a roll-back is counted in. A time between two of them is rounded up."""
    releases: Mapping[str, Dialect] = field(default_factory=dict)
    """What releases speak that make a change in another way, by Config.release. They are read alike."""

    def of(self, config: Config) -> Dialect:
        """What a switch speaks of which this was read."""
        return self.releases.get(config.release, self)


def dialect(system: str) -> Dialect:
    """The dialect of one of SYSTEMS."""
    return import_module(f".{system}.text", __package__).DIALECT
