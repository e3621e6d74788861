# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm hostlist expressions, as `scontrol show hostnames|hostlist|hostlistsorted` treats them.

Observed on Slurm 24.11 and 26.05: ranges join in input order, nothing is sorted or dropped.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable

MAX_RANGE = 65536  # names that Slurm accepts in one range

_RANGE = re.compile(r"^(\d+)(?:-(\d+))?$")
_NUMBERED = re.compile(r"^(.*?)(\d+)$")

_Bracket = list[tuple[str, str]]
"""First and last number of each range in a bracket, as written. The first number sets the width of the range."""


class HostlistError(ValueError):
    """Slurm refuses the expression; the message has the part and the reason."""


def expand(expression: str) -> list[str]:
    """Names of a hostlist expression, in Slurm's order: last bracket fastest, then the first, the second, ...

    Raises HostlistError for what `scontrol show hostlist` refuses.
    """
    return list(expanded(expression))


@functools.lru_cache(maxsize=4096)
def expanded(expression: str) -> tuple[str, ...]:
    """The same, kept: views of a large site expand the same ranges many times."""
    return tuple(name for part in _split(expression) for name in _expand_part(part))


def names(hosts: str | Iterable[object]) -> list[str]:
    """Names of an expression or of a list. Raises HostlistError, or TypeError for other types."""
    return expand(hosts) if isinstance(hosts, str) else [str(name) for name in hosts]


def count(expression: str) -> int:
    """The number of names, without expanding the expression. Raises HostlistError."""
    return sum(
        math.prod(sum(int(high) - int(low) + 1 for low, high in bracket) for bracket in _parse(part)[1])
        for part in _split(expression)
    )


def longest(expression: str) -> list[str]:
    """The longest name of each part, without expanding the expression. Its other names differ in digits alone."""
    return [_longest(*_parse(part)) for part in _split(expression)]


def _longest(texts: list[str], brackets: list[_Bracket]) -> str:
    numbers = [max((str(int(high)).zfill(len(low)) for low, high in bracket), key=len) for bracket in brackets]
    return "".join(itertools.chain(*zip(texts, numbers), [texts[-1]]))


def contains(expression: str, name: str) -> bool:
    """Whether the expression has a name, without expanding it. Raises HostlistError."""
    return not outside(expression, [name])


def outside(expression: str, names: Iterable[str]) -> list[str]:
    """The names that the expression does not have, without expanding it. Raises HostlistError."""
    tests = [_test(part) for part in _split(expression)]
    return [name for name in names if not any(test(name) for test in tests)]


def compress(names: list[str]) -> str:
    """The expression that Slurm prints for these names in this order."""
    return _text(_joined(map(_Range.of, names)))


def in_order(names: list[str]) -> str:
    """The expression that Slurm prints after sorting: prefixes in natural order, then numbers; doubled names stay.

    Slurm drops some doubled names with different padding, such as n0000,n[998-1000],n[998-1000]; here they all stay.
    """
    ranges = sorted(_joined(map(_Range.of, names)), key=functools.cmp_to_key(_compare))
    return _text(_joined(_disjoint(ranges)))


def _joined(ranges: Iterable[_Range]) -> list[_Range]:
    """Consecutive ranges joined where Slurm joins them."""
    joined: list[_Range] = []
    for new in ranges:
        if not (joined and joined[-1].absorb(new)):
            joined.append(new)
    return joined


def _disjoint(ranges: list[_Range]) -> list[_Range]:
    """Sorted ranges without overlaps. A number of two ranges appears twice, each time as the end of a range."""
    ranges = list(ranges)
    index = len(ranges) - 1
    while index > 0:
        one, other = ranges[index - 1 : index + 1]
        if one.overlaps(other):
            first, last = other.low, min(one.high, other.high)
            inner = [n for number in range(first, last + 1) for n in [number] * ((number > first) + (number < last))]
            ranges[index - 1 : index + 1] = [
                one.part(one.low, first),
                *(one.part(number, number) for number in inner),
                other.part(last, max(one.high, other.high)),
            ]
            index = min(index + len(inner) + 2, len(ranges))
        index -= 1
    return ranges


def _compare(one: _Range, other: _Range) -> int:
    """Slurm's order: prefix, plain names before numbered ones, number; with different padding, the narrower first."""
    if order := _natural(one.prefix, other.prefix):
        return order
    if not (one.numbered and other.numbered):
        return one.numbered - other.numbered
    if _joined_width(one.low, one.width, other.low, other.width) is None:
        return one.width - other.width
    return one.low - other.low


_CHUNK = re.compile(r"[0-9]+|[^0-9]")


def _natural(one: str, other: str) -> int:
    """Compare numbers in texts by magnitude, but digit by digit if one of them starts with 0."""
    for a, b in itertools.zip_longest(_CHUNK.findall(one), _CHUNK.findall(other), fillvalue=""):
        by_magnitude = a.isdecimal() and b.isdecimal() and "0" not in (a[0], b[0])
        if a != b:
            return -1 if (int(a) < int(b) if by_magnitude else a < b) else 1
    return 0


def _text(ranges: list[_Range]) -> str:
    groups = itertools.groupby(ranges, key=lambda r: (r.prefix, r.numbered or id(r)))
    return ",".join(_group_text(prefix, list(group)) for (prefix, _unused), group in groups)


class _Range:
    """`prefix` + low..high, each padded to `width` digits; a name without trailing digits is not numbered."""

    def __init__(self, prefix: str, digits: str) -> None:
        self.prefix, self.width, self.numbered = prefix, len(digits), bool(digits)
        self.low = self.high = int(digits) if digits else 0

    @classmethod
    def of(cls, name: str) -> _Range:
        match = _NUMBERED.match(name)
        return cls(match.group(1), match.group(2)) if match else cls(name, "")

    def part(self, low: int, high: int) -> _Range:
        part = _Range(self.prefix, "0" * self.width)
        part.low, part.high = low, high
        return part

    def width_with(self, new: _Range) -> int | None:
        """The width of a common range; None if the two can't join."""
        if not (self.numbered and new.numbered and self.prefix == new.prefix):
            return None
        return _joined_width(self.low, self.width, new.low, new.width)

    def absorb(self, new: _Range) -> bool:
        """Extend this range by the next one if Slurm would print both as one."""
        width = self.width_with(new) if new.low == self.high + 1 else None
        if width is None:
            return False
        self.width, self.high = width, new.high
        return True

    def overlaps(self, later: _Range) -> bool:
        """Whether Slurm splits the two. Equal single numbers don't overlap."""
        return self.low <= later.low < self.high and self.width_with(later) is not None

    def text(self) -> str:
        low, high = str(self.low).zfill(self.width), str(self.high).zfill(self.width)
        return low if self.low == self.high else f"{low}-{high}"


def _joined_width(low: int, w1: int, new: int, w2: int) -> int | None:
    """The width of a common range, None if padding differs (1 and 02 don't join, 9 and 10 do)."""
    if w1 == w2:
        return w1

    def pad(number: int, width: int) -> int:
        return max(0, width - len(str(number)))

    low_differs = pad(low, w1) != pad(low, w2)
    new_differs = pad(new, w2) != pad(new, w1)
    if low_differs and new_differs:
        return None
    return w1 if low_differs else w2


def _group_text(prefix: str, ranges: list[_Range]) -> str:
    if not ranges[0].numbered:
        return prefix
    if len(ranges) == 1 and ranges[0].low == ranges[0].high:
        return prefix + ranges[0].text()
    return f"{prefix}[{','.join(r.text() for r in ranges)}]"


def _split(expression: str) -> list[str]:
    """Cut at commas and blanks outside brackets; empty elements are ignored, as Slurm does."""
    parts, current, depth = [], "", 0
    for char in expression:
        depth += {"[": 1, "]": -1}.get(char, 0)
        if depth not in (0, 1):
            raise HostlistError(f"{expression!r} has unbalanced brackets")
        if depth == 0 and char in ", \t\n":
            parts.append(current)
            current = ""
        else:
            current += char
    if depth:
        raise HostlistError(f"{expression!r} has an open bracket")
    return [part for part in [*parts, current] if part]


def _parse(part: str) -> tuple[list[str], list[_Bracket]]:
    """Texts around the brackets, and the ranges in each bracket."""
    pieces = re.split(r"\[([^\]]*)\]", part)
    return pieces[0::2], [_bracket(inner, part) for inner in pieces[1::2]]


def _expand_part(part: str) -> list[str]:
    texts, brackets = _parse(part)
    if not brackets:
        return [part]
    # product() runs its last argument fastest; Slurm runs the last bracket fastest, then first, second, ...
    *front, last = [_numbers(bracket) for bracket in brackets]
    names = []
    for combination in itertools.product(*reversed(front), last):
        *reversed_front, tail = combination
        numbers = [*reversed(reversed_front), tail]
        names.append("".join(itertools.chain(*zip(texts, numbers), [texts[-1]])))
    return names


def _test(part: str) -> Callable[[str], bool]:
    """A function that tests whether the part has a name."""
    texts, brackets = _parse(part)
    if any(not text.strip("0123456789") for text in texts[1:-1]):
        return set(_expand_part(part)).__contains__  # a pattern can't see where one number ends and the next begins
    pattern = re.compile("([0-9]+)".join(map(re.escape, texts)))

    def has(name: str) -> bool:
        match = pattern.fullmatch(name)
        return bool(match) and all(map(_within, brackets, match.groups()))

    return has


def _within(bracket: _Bracket, number: str) -> bool:
    return any(
        int(low) <= int(number) <= int(high) and number == str(int(number)).zfill(len(low)) for low, high in bracket
    )


def _bracket(inner: str, part: str) -> _Bracket:
    ranges = []
    for item in inner.split(","):
        match = _RANGE.match(item)
        if not match:
            raise HostlistError(f"{part!r} has the range {item!r}, which is not digits or digits-digits")
        low, high = match.group(1), match.group(2) or match.group(1)
        if int(high) < int(low):
            raise HostlistError(f"{part!r} has the range {item!r}, which runs backwards")
        if int(high) - int(low) >= MAX_RANGE:
            raise HostlistError(f"{part!r} has more than {MAX_RANGE} names in the range {item!r}")
        ranges.append((low, high))
    return ranges


def _numbers(bracket: _Bracket) -> list[str]:
    return [str(number).zfill(len(low)) for low, high in bracket for number in range(int(low), int(high) + 1)]
