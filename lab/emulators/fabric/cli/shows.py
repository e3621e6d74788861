# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What show commands have in common: who asks what, an answer as text and as JSON, tables, sections and pipes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.cli import tree

if TYPE_CHECKING:
    from lab.emulators.fabric.cli.grammar import Grammar
    from lab.emulators.fabric.switch import State

PIPES = ("json", "no-more", "include <text:rest>", "exclude <text:rest>", "section <text:rest>")


@dataclass(frozen=True)
class Question:
    """Who asks what of which switch, and when (seconds since the epoch)."""

    state: State
    args: dict[str, str]
    now: float
    vty: str = ""
    session: str = ""


@dataclass(frozen=True)
class Answer:
    """A show command's text, and its JSON where the system has one."""

    text: str
    data: dict[str, Any] | None = None


Shows = dict[str, Callable[[Question], Answer]]
"""Show commands as patterns, and what answers each."""


def host(state: State) -> str:
    """Return the configured name of the switch."""
    return next(tree.values(state["running"], "hostname "), "localhost").split()[0]


def columns(rows: list[list[str]], gap: str = " ") -> list[str]:
    """Return a table: the title row, a row of dashes, the rest."""
    widths = [max(len(row[column]) for row in rows) or 1 for column in range(len(rows[0]))]
    drawn = [gap.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return [drawn[0], gap.join("-" * width for width in widths), *drawn[1:]]


def section(grammar: Grammar, lines: list[str], wanted: str) -> list[str]:
    """Return the top-level blocks in which some line fits an expression; without the separators between them."""
    fits = grammar.expression(wanted)
    blocks: list[list[str]] = []
    for line in lines:
        if line.startswith(" ") and blocks:
            blocks[-1].append(line)
        elif line not in ("", "!"):
            blocks.append([line])
    return [line for found in blocks if any(fits.search(text) for text in found) for line in found]


def piped(grammar: Grammar, answer: Answer, pipes: list[str], unconverted: str) -> str:
    """Pass an answer through `| json`, `| include X`, `| exclude X`, `| section X` and `| no-more`."""
    text = answer.text
    for pipe in pipes:
        found = grammar.match(PIPES, pipe)
        wanted = found.args.get("text", "")
        if found.text == "json":
            text = unconverted if answer.data is None else json.dumps(answer.data, indent=4)
        elif found.words[0] in ("include", "exclude"):
            keep, fits = found.words[0] == "include", grammar.expression(wanted)
            text = "\n".join(line for line in text.splitlines() if bool(fits.search(line)) == keep)
        elif found.words[0] == "section":
            text = "\n".join(section(grammar, [*text.splitlines()], wanted))
    return text
