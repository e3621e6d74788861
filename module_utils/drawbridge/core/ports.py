# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lists of switch ports, as people and switches write them: `Ethernet1-20`, `Ethernet1/1-64/1`, `Ethernet3/1-4`."""

from __future__ import annotations

import itertools
import re

_PART = re.compile(r"(?P<stem>[A-Za-z]+)(?P<low>[0-9]+(?:/[0-9]+)*)(?:-(?P<high>[0-9]+(?:/[0-9]+)*))?")
_PORT = re.compile(r"(.*?)([0-9]+)")


class PortsError(ValueError):
    """The list has a part that can't be ports; the message has the part and the reason."""


def expand(text: str) -> list[str]:
    """Ports of a list, in its order.

    A range ends with the number that changes (Ethernet3/1-4), or with all numbers, of which one changes
    (Ethernet1/1-64/1). Raises PortsError.
    """
    ports = [port for part in text.split(",") for port in _ports(part)]
    if twice := sorted({port for port in ports if ports.count(port) > 1}):
        raise PortsError(f"it names {compress(twice)} twice")
    return ports


def _ports(part: str) -> list[str]:
    match = _PART.fullmatch(part)
    if not match:
        raise PortsError(f"{part!r} is neither a port nor a range of ports")
    low = [int(number) for number in match["low"].split("/")]
    high = [int(number) for number in (match["high"] or match["low"]).split("/")]
    high = [*low[: len(low) - len(high)], *high]
    changing = [at for at, (first, last) in enumerate(zip(low, high)) if first != last]
    if len(high) != len(low) or len(changing) > 1:
        raise PortsError(f"{part!r} is no range in which one number changes")
    [at] = changing or [len(low) - 1]
    if high[at] < low[at]:
        raise PortsError(f"{part!r} runs backwards")
    numbers = ([*low[:at], number, *low[at + 1 :]] for number in range(low[at], high[at] + 1))
    return [f"{match['stem']}{'/'.join(map(str, each))}" for each in numbers]


def compress(ports: list[str]) -> str:
    """The shortest list of these ports, in this order; names that end without a digit are never in a range."""
    numbered = [(match[1], int(match[2])) if (match := _PORT.fullmatch(port)) else (port, None) for port in ports]
    runs = itertools.groupby(enumerate(numbered), lambda item: _run(*item))
    return ",".join(_text([port for _, port in run]) for _, run in runs)


def _run(index: int, port: tuple[str, int | None]) -> tuple[str, int]:
    """A key that is equal for ports of one range: the stem, and the number minus the index."""
    stem, number = port
    return stem, -1 - index if number is None else number - index


def _text(run: list[tuple[str, int | None]]) -> str:
    (stem, low), (_, high) = run[0], run[-1]
    if low is None:
        return stem
    return f"{stem}{low}" if low == high else f"{stem}{low}-{high}"
