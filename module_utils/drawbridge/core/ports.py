# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lists of switch ports, as people and switches write them: `Ethernet1-20`, `Ethernet1/1-64/1`, `Ethernet3/1-4`."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PART = re.compile(r"(?P<stem>[A-Za-z]+)(?P<low>[0-9]+(?:/[0-9]+)*)(?:-(?P<high>[0-9]+(?:/[0-9]+)*))?")
_PORT = re.compile(r"([A-Za-z]+)([0-9]+(?:/[0-9]+)*)")


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

    @classmethod
    def of(cls, name: str) -> _Port:
        match = _PORT.fullmatch(name)
        return cls(match[1], tuple(int(number) for number in match[2].split("/"))) if match else cls(name, ())

    def changing(self, other: _Port) -> list[int]:
        """Positions of the numbers in which the two differ."""
        return [at for at, (one, two) in enumerate(zip(self.numbers, other.numbers)) if one != two]

    def changes_to(self, other: _Port) -> int | None:
        """The one number that is higher by one in the other port; None if the two can't be in a range."""
        if self.stem != other.stem or len(self.numbers) != len(other.numbers):
            return None
        changing = self.changing(other)
        if len(changing) != 1 or other.numbers[changing[0]] != self.numbers[changing[0]] + 1:
            return None
        return changing[0]

    def text(self) -> str:
        return f"{self.stem}{'/'.join(map(str, self.numbers))}"


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
    end = last.numbers[at:] if at == len(last.numbers) - 1 else last.numbers
    return f"{first.text()}-{'/'.join(map(str, end))}"
