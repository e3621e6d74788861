# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One section of a switch's configuration: the lines of its change, and whose traffic the change interrupts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Callable

from ..core import ports
from .traffic import Traffic

Lines = tuple[str, ...]

PORT = "interface "
"""How sections of ports begin; all others concern the whole switch."""


@dataclass(frozen=True)
class Change:
    """Two sections with equal changes can be one step."""

    lines: Lines
    """Commands to type, without a port's header."""
    why: str = ""
    """Why it interrupts traffic, with {ports} for the ports; empty if it doesn't."""
    used: bool = False
    """Nodes in use, or nodes that are not known, are behind it."""
    link: bool = False
    """The port goes to another switch."""
    after: str = ""
    """The section that must change first, and waits."""

    @property
    def interrupts(self) -> bool:
        """Whether it needs consent."""
        return self.used or bool(self.after)

    @property
    def group(self) -> int:
        """Its place among the changes of one switch: quiet ones, then ports of nodes, then links."""
        return self.interrupts * (1 + self.link)

    def waits(self, names: Sequence[str], have: Mapping[str, Lines], traffic: Traffic) -> str:
        """Why sections with this change wait, as one sentence."""
        if not self.used:
            return f"it needs the change of {self.after}, which waits"
        concerned = [name.removeprefix(PORT) for name in names if name.startswith(PORT)]
        return f"{self.why.format(ports=port_list(names))}: {traffic.waits_for(concerned or _every(have, traffic))}"


def changes_of(
    commands: Callable[[Lines, Lines], list[str]],
    stops: Callable[[str, Lines, Lines], str],
    have: Mapping[str, Lines],
    want: Mapping[str, Lines],
    traffic: Traffic,
) -> dict[str, Change]:
    """The changes by section. Ports wait for sections of the whole switch, which they may refer to."""
    found: dict[str, Change] = {}
    after = ""
    for name, lines in want.items():
        own = have.get(name, ())
        port = name.removeprefix(PORT) if name.startswith(PORT) else ""
        typed = tuple(line for line in map(str.strip, commands(own, lines)) if not port or line != name)
        why = stops(name, own, lines)
        used = bool(why and traffic.waits_for([port] if port else _every(have, traffic)))
        found[name] = Change(typed, why, used, port in traffic.links, after if port else "")
        after = after or (name if used and not port else "")
    return found


def port_list(sections: Sequence[str]) -> str:
    """The ports of these sections, as people write them."""
    return ports.compress([name.removeprefix(PORT) for name in sections])


def _every(have: Mapping[str, Lines], traffic: Traffic) -> list[str]:
    """All ports of the class, also those that this run leaves alone."""
    own = [name.removeprefix(PORT) for name in have if name.startswith(PORT)]
    return list(dict.fromkeys([*own, *traffic.behind]))
