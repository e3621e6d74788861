# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Parts of an SVG picture with computed places, so that a test can see whether texts overlap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

CHAR, LINE = 6, 11
"""Width of a character and height of a line, in px. The page sets each text to this width (textLength)."""


@dataclass(frozen=True)
class Text:
    """A text in its box: left, top, width and height. An upright one is turned by 90 degrees and read upwards."""

    x: int
    y: int
    width: int
    height: int
    text: str
    full: str
    """The text before it was cut; empty if it was not."""
    upright: bool = False
    tone: str = ""


@dataclass(frozen=True)
class Box:
    """A rectangle. Its tone is its colour, and its title shows under the mouse."""

    x: int
    y: int
    width: int
    height: int
    tone: str
    title: str = ""


@dataclass(frozen=True)
class Lines:
    """Lines of one colour, as the path of an SVG."""

    path: str
    tone: str
    title: str = ""


@dataclass
class Picture:
    """A picture and its size in px. Lines are below boxes, and boxes below texts."""

    title: str
    width: int = 0
    height: int = 0
    lines: list[Lines] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)


def cut(text: str, width: int) -> str:
    """The text, or its begin and its end, which together fit into this width."""
    most = max(3, width // CHAR)
    if len(text) <= most:
        return text
    return text[: most // 2] + "…" + text[len(text) - (most - most // 2 - 1) :]


def labels(names: Sequence[str], most: int) -> dict[str, str]:
    """Labels by name: the name, or the part in which it differs from the others if one is longer than `most`."""
    if max(map(len, names), default=0) <= most or len(set(names)) < 2:
        return {name: name for name in names}
    low, high = min(names), max(names)
    before = re.sub(r"[0-9]+$", "", low[: _common(low, high)])
    ends = [name[len(before) :][::-1] for name in names]
    low, high = min(ends), max(ends)
    after = len(re.sub(r"[0-9]+$", "", low[: _common(low, high)]))
    parts = {name: name[len(before) : len(name) - after] for name in names}
    return {name: f"{before and '…'}{part}{'…' if after else ''}" for name, part in parts.items()}


def _common(one: str, other: str) -> int:
    """Number of equal characters at the begin."""
    return next((at for at, pair in enumerate(zip(one, other)) if pair[0] != pair[1]), min(len(one), len(other)))


def level(x: int, y: int, text: str, width: int, full: str = "", tone: str = "", right: bool = False) -> Text:
    """A text from left to right in a space of this width, at its left or at its right."""
    short = cut(text, width)
    used = len(short) * CHAR
    return Text(x + (width - used if right else 0), y, used, LINE, short, _hidden(short, full or text), False, tone)


def upright(x: int, bottom: int, text: str, height: int, full: str = "") -> Text:
    """A text that is read upwards from `bottom`."""
    short = cut(text, height)
    used = len(short) * CHAR
    return Text(x, bottom - used, LINE, used, short, _hidden(short, full or text), True)


def _hidden(shown: str, full: str) -> str:
    return full if shown != full else ""


def overlapping(picture: Picture) -> Iterator[tuple[str, str]]:
    """Pairs of texts that share space, and texts that leave the picture with an empty second one."""
    open_: list[Text] = []
    for text in sorted(picture.texts, key=lambda it: it.y):
        inside = text.x >= 0 and text.x + text.width <= picture.width
        if not inside or text.y < 0 or text.y + text.height > picture.height:
            yield text.text, ""
        open_ = [it for it in open_ if it.y + it.height > text.y]
        for other in open_:
            if other.x < text.x + text.width and text.x < other.x + other.width:
                yield other.text, text.text
        open_.append(text)


def longest(names: Iterable[str], most: int) -> int:
    """Width in px of the longest name, at most so many characters."""
    return CHAR * min(most, max(map(len, names), default=0))
