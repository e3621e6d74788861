# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's files as people write them: comments, continued lines, quoted values, included files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from .model import shown

_PAIR = re.compile(r'\s*([\w.]+)\s*[-*+/]?=\s*(?:"([^"]*)"|(\S+))')
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)#.*")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\\s*$")
DEEPEST = 8
"""Included files may include others; Slurm itself ends with circles."""
RECORDS = frozenset(
    {"blockname", "downnodes", "frontendname", "name", "nodename", "nodeset", "partitionname", "switchname"}
)
"""First keys of lines that describe one thing with several keys."""


@dataclass(frozen=True)
class Line:
    """The keys and values of one line, as they are spelled."""

    pairs: tuple[tuple[str, str], ...]

    @property
    def kind(self) -> str:
        """The first key in small letters."""
        return self.pairs[0][0].lower()

    @property
    def name(self) -> str:
        """The first value."""
        return self.pairs[0][1]

    def values(self) -> dict[str, tuple[str, str]]:
        """Spelling and value by key in small letters, without the first."""
        return {key.lower(): (key, value) for key, value in self.pairs[1:]}

    def __str__(self) -> str:
        """Return the line with single blanks."""
        return " ".join(shown(key, f'"{value}"' if " " in value else value) for key, value in self.pairs)


def lines(text: str, included: Callable[[str], str] = lambda _: "", depth: int = 0) -> list[Line]:
    """All lines, with those of included files in their places.

    `included` returns the text of a file by the name after Include.
    """
    found: list[Line] = []
    for whole in _whole(text):
        if match := _INCLUDE.match(whole):
            found += lines(included(match[1]), included, depth + 1) if depth < DEEPEST else []
        elif pairs := [(key, quoted or plain) for key, quoted, plain in _PAIR.findall(whole)]:
            # Slurm refuses a line with several settings
            found.append(Line(tuple(pairs) if pairs[0][0].lower() in RECORDS else (pairs[0],)))
    return found


def _whole(text: str) -> Iterator[str]:
    """Lines without comments, each with its continuation."""
    begun = ""
    for line in text.splitlines():
        bare = _COMMENT.sub(r"\1", line)
        begun += _CONTINUED.sub("", bare)
        if not _CONTINUED.search(bare):
            yield begun.replace("\\", "")
            begun = ""
    yield begun.replace("\\", "")


def settings(found: list[Line]) -> dict[str, list[tuple[str, str]]]:
    """Spellings and values of settings by key in small letters; Slurm takes the last one."""
    values: dict[str, list[tuple[str, str]]] = {}
    for line in found:
        if line.kind not in RECORDS:
            values.setdefault(line.kind, []).append(line.pairs[0])
    return values


def with_defaults(found: list[Line], kind: str) -> list[Line]:
    """The lines of one kind. A line with the name DEFAULT sets keys of those that follow."""
    presets: dict[str, tuple[str, str]] = {}
    filled = []
    for line in (line for line in found if line.kind == kind):
        if line.name.upper() == "DEFAULT":
            presets = {**presets, **line.values()}
        else:
            filled.append(Line((line.pairs[0], *{**presets, **line.values()}.values())))
    return filled
