# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lists of switch ports, as people and switches write them: `Ethernet1-20`, `Ethernet1/1-64/1`, `swp1s0-1`.

`Ethernet0-24:8` is every eighth: Ethernet0, Ethernet8, Ethernet16, Ethernet24. `et-0/0/0-7` are eight ports, and
`et-0/0/0:0-3` the four channels of one. `swp1-16s0-1` are the two breakout ports of each of 16.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBERS = r"[0-9]+(?:[/s][0-9]+)*"
"""Numbers with what parts them: a slash, or the s of a breakout port."""
_CHANNEL = r"(?::[0-9]+)?"
"""A breakout port of systems that write it so. At the end of a range, the same mark begins the step."""
_STEM = "[A-Za-z]+(?:-[A-Za-z]+)*-?"
_PART = re.compile(
    rf"(?P<stem>{_STEM})(?P<low>{_NUMBERS}{_CHANNEL})(?:-(?P<high>{_NUMBERS})(?::(?P<step>[1-9][0-9]*))?)?"
)
_PORT = re.compile(rf"({_STEM})({_NUMBERS}{_CHANNEL})")


class PortsError(ValueError):
    """The list has a part that can't be ports; the message has the part and the reason."""


def expand(text: str) -> list[str]:
    """Ports of a list, in its order.

    A range ends with the number that changes (Ethernet3/1-4), or with all numbers, of which one changes
    (Ethernet1/1-64/1). A step may follow (Ethernet0-24:8). Raises PortsError.
    """
    ports = [port for part in text.split(",") for port in _ports(part)]
    if twice := sorted({port for port in ports if ports.count(port) > 1}):
        raise PortsError(f"it names {compress(twice)} twice")
    return ports


_PANELS = re.compile(r"([A-Za-z]+)([0-9]+)-([0-9]+)s([0-9]+)(?:-([0-9]+))?")
"""Breakout ports of several ports: swp1-16s0-1."""


def _ports(part: str) -> list[str]:
    if panels := _PANELS.fullmatch(part):
        stem, low, high, first, last = panels.groups()
        if int(low) > int(high) or int(first) > int(last or first):
            raise PortsError(f"{part!r} runs backwards")
        lanes = range(int(first), int(last or first) + 1)
        return [f"{stem}{number}s{lane}" for number in range(int(low), int(high) + 1) for lane in lanes]
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
    step = int(match["step"] or 1)
    if (high[at] - low[at]) % step:
        raise PortsError(f"{part!r} does not end on a multiple of its step")
    numbers = ([*low[:at], number, *low[at + 1 :]] for number in range(low[at], high[at] + 1, step))
    return [f"{match['stem']}{_numbers(each, marks)}" for each in numbers]


def _split(text: str) -> tuple[list[int], tuple[str, ...]]:
    """Numbers, and the marks between them."""
    return [int(number) for number in re.split("[/s:]", text)], tuple(re.findall("[/s:]", text))


def _numbers(numbers: Sequence[int], marks: Sequence[str]) -> str:
    return "".join(f"{number}{mark}" for number, mark in zip(numbers, (*marks, "")))


def compress(ports: list[str]) -> str:
    """The shortest list of these ports, in this order; names that don't end with numbers are never in a range."""
    left: Sequence[_Port] = [_Port.of(name) for name in ports]
    parts: list[str] = []
    while left:
        run = _run(left)
        parts.append(_text(run))
        left = left[len(run) :]
    return ",".join(parts)


PLAINER = 2
"""So many ports at a distance are no range: `Ethernet1,Ethernet3` is plainer than `Ethernet1-3:2`."""


def _run(ports: Sequence[_Port]) -> Sequence[_Port]:
    """The ports at the beginning that one range can name: side by side, or at equal distances."""
    change = ports[0].changes_to(ports[1]) if len(ports) > 1 else None
    if not change:
        return ports[:1]
    length = 2
    while length < len(ports) and ports[length - 1].changes_to(ports[length]) == change:
        length += 1
    return ports[: length if change.step == 1 or length > PLAINER else 1]


@dataclass(frozen=True)
class _Change:
    at: int
    step: int


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

    def changes_to(self, other: _Port) -> _Change | None:
        """The one number that is higher in the other port, and by how much; None if the two can't be in a range."""
        if (self.stem, self.marks) != (other.stem, other.marks):
            return None
        steps = [two - one for one, two in zip(self.numbers, other.numbers)]
        changing = [at for at, step in enumerate(steps) if step]
        if len(changing) != 1 or steps[changing[0]] < 0:
            return None
        if ":" in self.marks and changing[0] != len(steps) - 1:
            return None  # the end of such a range would look like a step
        return _Change(changing[0], steps[changing[0]])

    def text(self) -> str:
        return f"{self.stem}{_numbers(self.numbers, self.marks)}"


def _text(run: Sequence[_Port]) -> str:
    first, last = run[0], run[-1]
    change = first.changes_to(run[1]) if len(run) > 1 else None
    if not change:
        return first.text()
    # the last number changes in most ranges, and then alone shows where the range ends
    at_end = change.at == len(last.numbers) - 1
    end = str(last.numbers[change.at]) if at_end else _numbers(last.numbers, last.marks)
    return f"{first.text()}-{end}{f':{change.step}' if change.step > 1 else ''}"
