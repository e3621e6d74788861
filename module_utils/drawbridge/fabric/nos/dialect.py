# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The dialect of a network operating system, and how it is found by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Callable

from ..model import SwitchProfile
from ..plan import Config, Lines, Syntax
from .releases import Releases
from .state import StateRead, no_state

SESSION_PREFIX = "drawbridge-"
"""How the names of Drawbridge's configuration sessions begin. It aborts no other session."""
SLOW = 5


def no_reads(profile: SwitchProfile, release: str) -> Lines:
    """No commands beside those of all releases."""
    del profile, release
    return ()


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
    releases: Releases
    """Those that Drawbridge configures. A session reads the release before anything else."""
    more_reads: Callable[[SwitchProfile, str], Lines] = no_reads
    """Commands after `reads`, whose form depends on the release."""
    paged: str = r"(?!)"
    """Regular expression of lines whose answers a switch may show page by page, at a terminal."""
    state_reads: Callable[..., tuple[StateRead, ...]] = no_state
    """(profile, release) -> commands for counters and LLDP neighbours, which all releases take if none is given. None
    if Drawbridge can't read them on this system yet."""


def dialect(system: str) -> Dialect:
    """The dialect of one of SYSTEMS."""
    return import_module(f".{system}.text", __package__).DIALECT
