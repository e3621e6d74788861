# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lists of switch ports, as people and switches write them: `Ethernet1-20`, `Ethernet1/1-64/1`, `swp1s0-1`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBERS = r"[0-9]+(?:[/s][0-9]+)*"
"""Numbers with what parts them: a slash, or the s of a breakout port."""
_PART = re.compile(rf"(?P<stem>[A-Za-z]+)(?P<low>{_NUMBERS})(?:-(?P<high>{_NUMBERS}))?")
_PORT = re.compile(rf"([A-Za-z]+)({_NUMBERS})")


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
    low, marks = _split(match["low"])
    high, marks_of_high = _split(match["high"] or match["low"])
    high = [*low[: len(low) - len(high)], *high]
    changing = [at for at, (first, last) in enumerate(zip(low, high)) if first != last]
    if len(high) != len(low) or len(changing) > 1 or not "".join(marks).endswith("".join(marks_of_high)):
        raise PortsError(f"{part!r} is no range in which one number changes")
    [at] = changing or [len(low) - 1]
    if high[at] < low[at]:
        raise PortsError(f"{part!r} runs backwards")
    numbers = ([*low[:at], number, *low[at + 1 :]] for number in range(low[at], high[at] + 1))
    return [f"{match['stem']}{_numbers(each, marks)}" for each in numbers]


def _split(text: str) -> tuple[list[int], tuple[str, ...]]:
    """Numbers, and the marks between them."""
    return [int(number) for number in re.split("[/s]", text)], tuple(re.findall("[/s]", text))


def _numbers(numbers: Sequence[int], marks: Sequence[str]) -> str:
    return "".join(f"{number}{mark}" for number, mark in zip(numbers, (*marks, "")))


def compress(ports: list[str]) -> str:
    """The shortest list of these ports, in this order; names that don't end with numbers are never in a range."""
    runs: list[list[_Port]] = []
    for port in map(_Port.of, ports):
        if runs and _goes_on(runs[-1], port):
            runs[-1].append(port)
        else:
            runs.append([port])
    return ",".join(map(_text, runs))


@dataclass(frozen=True)
class _Port:
    stem: str
    numbers: tuple[int, ...]
    marks: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str) -> _Port:
        match = _PORT.fullmatch(name)
        if not match:
            return cls(name, ())
        numbers, marks = _split(match[2])
        return cls(match[1], tuple(numbers), marks)

    def changing(self, other: _Port) -> list[int]:
        """Positions of the numbers in which the two differ."""
        return [at for at, (one, two) in enumerate(zip(self.numbers, other.numbers)) if one != two]

    def changes_to(self, other: _Port) -> int | None:
        """The one number that is higher by one in the other port; None if the two can't be in a range."""
        if (self.stem, self.marks) != (other.stem, other.marks):
            return None
        changing = self.changing(other)
        if len(changing) != 1 or other.numbers[changing[0]] != self.numbers[changing[0]] + 1:
            return None
        return changing[0]

    def text(self) -> str:
        return f"{self.stem}{_numbers(self.numbers, self.marks)}"


def _goes_on(run: list[_Port], port: _Port) -> bool:
    """Whether the port is the next one of a range: the number that changed from one to the next changes again."""
    at = run[-1].changes_to(port)
    return at is not None and (len(run) == 1 or run[0].changing(run[1]) == [at])


def _text(run: list[_Port]) -> str:
    first, last = run[0], run[-1]
    if len(run) == 1:
        return first.text()
    at = first.changing(last)[0]
    # the last number changes in most ranges, and then alone shows where the range ends
    end = str(last.numbers[at]) if at == len(last.numbers) - 1 else _numbers(last.numbers, last.marks)
    return f"{first.text()}-{end}"
