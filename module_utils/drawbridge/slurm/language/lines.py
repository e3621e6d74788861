# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's files as people write them: comments, continued lines, quoted values, included files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable

from ..config.text import HIDDEN

_PAIR = re.compile(r'\s*([\w.]+)\s*[-*+/]?=\s*(?:"([^"]*)"|(\S+))')
_INCLUDE = re.compile(r"\s*include\s+(\S+)", re.IGNORECASE)
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)#.*")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\\s*$")
DEEPEST = 8
"""Included files may include others."""
RECORDS = frozenset(
    {
        *("blockname", "downnodes", "frontendname", "name", "nodename", "nodeset", "partitionname", "poweraction"),
        "switchname",
    }
)
"""First keys of lines that describe one thing with several keys."""
SECRETS = frozenset({"accountingstoragepass", "jobcomppass", "storagepass"})
"""Keys, in small letters, whose values never appear."""
NOT_INHERITED = frozenset(
    {"disablerootjobs", "exclusivetopo", "exclusiveuser", "powerdownonidle", "selecttypeparameters", "topology"}
)
"""Keys of partitions that Slurm does not take from a line with the name DEFAULT."""


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


def lines(text: str, included: Callable[[str], str] = lambda _: "") -> list[Line]:
    """All lines, with those of included files in their places.

    `included` returns the text of a file by the name after Include, in which %c is the cluster's name by then. Raises
    ValueError for an Include at which Slurm itself would stop.
    """
    return _lines(text, included, [], 0)


def _lines(text: str, included: Callable[[str], str], before: list[Line], depth: int) -> list[Line]:
    found: list[Line] = []
    for whole in _whole(text):
        if match := _INCLUDE.match(whole):
            if depth == DEEPEST:
                raise ValueError(f"Include {match[1]}: files include one another without an end")
            name = _file_name(match[1], [*before, *found])
            found += _lines(included(name), included, [*before, *found], depth + 1)
        elif pairs := [(key, quoted or plain) for key, quoted, plain in _PAIR.findall(whole)]:
            # Slurm refuses a line with several settings
            found.append(Line(tuple(pairs) if pairs[0][0].lower() in RECORDS else (pairs[0],)))
    return found


def _file_name(name: str, before: list[Line]) -> str:
    """The name of a file after Include. Raises ValueError."""
    if "*" in name:
        raise ValueError(f"Include {name}: Slurm reads no patterns; name each file")
    if "%c" not in name:
        return name
    clusters = [line.name for line in before if line.kind == "clustername"]
    if not clusters:
        raise ValueError(f"Include {name}: %c is the cluster's name, which no line before it sets")
    return name.replace("%c", clusters[-1].lower())


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
            presets |= {key: pair for key, pair in line.values().items() if key not in NOT_INHERITED}
        else:
            filled.append(Line((line.pairs[0], *{**presets, **line.values()}.values())))
    return filled


def shown(key: str, value: str) -> str:
    """A setting as a line; secrets are hidden."""
    return f"{key}={HIDDEN if key.lower() in SECRETS and value else value}"
