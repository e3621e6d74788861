# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Cisco NX-OS: the lines that lead from one section to another. New values replace old ones where NX-OS does so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...plan import PORT, Lines
from .lines import NETWORK, PFC, SPREAD, SYSTEM, Block, tree_of

REPLACED = re.compile(
    rf"(mtu|set qos-group|pause pfc-cos|priority level|bandwidth remaining percent|random-detect|{SPREAD}"
    rf"|{PFC}( [a-z-]+)+)(?= )"
)
"""What a line sets, where a second line takes the place of the first. Of others, the old line goes before."""
SHARE = "bandwidth remaining percent "


def commands(have: Lines, want: Lines) -> list[str]:
    """The lines to type. Shares that shrink come before those that grow: their sum must not pass 100."""
    return _typed(tree_of(have), tree_of(want))


def stops(section: str, have: Lines, want: Lines) -> str:
    """One network-qos policy is in force, on all ports. A new one that is not attached yet has no effect."""
    if section == SYSTEM or (section == NETWORK and have):
        return "a change of the network-qos policy divides the buffers of all ports anew"
    if not section.startswith(PORT):
        return ""
    if _only(have, "  mtu ") != _only(want, "  mtu "):
        return "a new MTU takes the links of {ports} down for a moment"
    mode = f"  {PFC} mode "
    return "a change of PFC takes {ports} down for a moment" if _only(have, mode) != _only(want, mode) else ""


def on_ports(names: Sequence[str], lines: Lines) -> Lines:
    """Ports are typed one by one."""
    return tuple(line for name in names for line in (f"{PORT}{name}", *lines))


def _typed(have: Block, want: Block) -> list[str]:
    new = [text for text in want if not want[text] and text not in have]
    set_anew = {_set_by(text) for text in new}
    gone = [text for text in have if text not in want and _set_by(text) not in set_anew]
    lines = [*(f"no {text}" for text in gone), *new]
    for text in sorted(want, key=lambda text: _share(want[text]) - _share(have.get(text, {}))):
        if want[text] and (below := _typed(have.get(text, {}), want[text])):
            lines += [text, *below]
    return lines


def _set_by(text: str) -> str:
    """What the line sets, or the line itself where a second one would not replace it."""
    match = REPLACED.match(text)
    return match[0] if match else text


def _share(block: Block) -> int:
    return sum(int(text[len(SHARE) :]) for text in block if text.startswith(SHARE))


def _only(lines: Lines, start: str) -> set[str]:
    return {line for line in lines if line.startswith(start)}
