# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How EOS prints a configuration, and what it makes of single lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli.language import Language
from lab.emulators.fabric.eos.lines import GRAMMAR, table
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.language import Line
    from lab.emulators.fabric.cli.tree import Node

MAP = re.compile(r"(qos map (?:dscp|traffic-class)) (\d+) (to \S+ \d+)")
WATCHDOG_WARNING = (
    "! PFC watchdog polling-interval {have} is greater than half of the smaller of timeout and recovery-time;"
    " using {used}"
)


class Eos(Language):
    """Three spaces, `!` between blocks; queues that hold nothing don't show; maps to one class share a line."""

    grammar = GRAMMAR
    fixed = re.compile("interface Ethernet")

    def table(self, mode: str, platform: str) -> tuple[Line, ...]:
        """Return the lines that a mode takes on a platform, in print order."""
        return table(mode, platform)

    def check(self, config: Node, path: list[str], found: Match, *, removes: bool) -> None:
        """Take no marking that starts above the point where it is full."""
        del config, path
        if "max" in found.args and not removes and int(found.args["min"]) > int(found.args["max"]):
            raise Refused("% Minimum threshold cannot be greater than maximum threshold")

    def prints(self, title: str, text: str, node: Node) -> bool:
        """Hide what a port trusts by itself."""
        return not (title.startswith("interface") and text == _default_trust(node))

    def finish(self, printed: list[str]) -> list[str]:
        """Join the maps that lead to one class: `qos map dscp 24 26 to traffic-class 3`."""
        return _merge(printed)


EOS = Eos()


def warning(tree: Node) -> str:
    """Return what EOS warns of when the watchdog polls too seldom to keep its own times, or nothing."""
    have, used = polling(tree)
    return WATCHDOG_WARNING.format(have=have, used=used) if have and have != used else ""


def polling(tree: Node) -> tuple[str, str]:
    """Return the watchdog's polling interval as configured and as used, in seconds."""
    seconds = {key.split(" ", 1)[1]: text.split()[-1] for key, text in tree["lines"].items() if key.startswith("86.")}
    have = seconds.get("polling-interval", "")
    bounds = [float(seconds[name]) for name in ("timeout", "recovery-time") if name in seconds]
    if not have or not bounds:
        return have, have
    return have, f"{min(float(have), min(bounds) / 2):g}"


def _default_trust(node: Node) -> str:
    """Return what a port trusts by itself: DSCP when it routes, CoS when it switches."""
    return "qos trust dscp" if "no switchport" in node["lines"].values() else "qos trust cos"


def _merge(printed: list[str]) -> list[str]:
    numbers: dict[tuple[str, str], list[str]] = {}
    merged: list[str | tuple[str, str]] = []
    for line in printed:
        found = MAP.fullmatch(line)
        if found and (found[1], found[3]) not in numbers:
            merged.append((found[1], found[3]))
        if found:
            numbers.setdefault((found[1], found[3]), []).append(found[2])
        else:
            merged.append(line)
    return [line if isinstance(line, str) else f"{line[0]} {' '.join(numbers[line])} {line[1]}" for line in merged]
