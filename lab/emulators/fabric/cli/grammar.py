# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How a switch reads a typed line: keywords by unique prefix, typed arguments, optional parts.

A pattern is written as its own help: `mtu <bytes:int:68-9214>`, `configure [terminal]`. Arguments:

    `int:LOW-HIGH`     a whole number.                     `list:LOW-HIGH`  numbers, `24 26`, `24-26` or `24,26`.
    `seconds:LOW-HIGH` a decimal number.                   `word`           anything without a space.
    `rest`             everything that follows.            `port`           `Et1`, `eth1/1`, `ethernet 1`.
    `prefix`           an IPv4 address with its length.    `hms`            HH:MM:SS.
    `a|b|c`            one of these keywords.
"""

from __future__ import annotations

import ipaddress
import itertools
import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING

from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Element:
    """One place of a pattern: a keyword, or an argument with a kind."""

    keyword: str = ""
    name: str = ""
    kind: str = ""
    limits: str = ""

    @property
    def repeats(self) -> bool:
        """Say whether the argument may take more than one word."""
        return self.kind in ("list", "rest")


@dataclass(frozen=True)
class Match:
    """A line that was understood: the pattern, its arguments and the words in full."""

    pattern: str
    args: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Return the line as the switch itself would print it."""
        return " ".join(self.words)


@dataclass(frozen=True)
class _State:
    """A pattern that still fits: how far it has been read, and with what."""

    pattern: str
    elements: tuple[Element, ...]
    index: int
    match: Match
    port_type: str = ""

    @property
    def next(self) -> Element:
        """Return the place that the next word may fill; past the end, one that takes nothing."""
        return self.elements[self.index] if self.index < len(self.elements) else Element(kind="|")


@dataclass(frozen=True)
class Grammar:
    """The words of one system: its kinds of ports, and what it prints when it doesn't understand."""

    ports: tuple[str, ...]
    invalid: str = "% Invalid input"
    incomplete: str = "% Incomplete command"
    ambiguous: str = "% Ambiguous command"

    def match(self, patterns: Iterable[str], line: str) -> Match:
        """Return the one pattern that fits the whole line, or raise Refused with the system's own text."""
        states = [_State(p, v, 0, Match(p)) for p in patterns for v in variants(p)]
        words = line.split()
        for word in words:
            states = self._step(states, word)
        complete = [s.match for s in states if s.index == len(s.elements) and not s.port_type]
        if not complete:
            raise Refused(self.incomplete)
        return complete[0]

    def expression(self, text: str) -> re.Pattern[str]:
        """Return a regular expression that a user typed; Refused when it is none."""
        try:
            return re.compile(text, re.IGNORECASE)
        except re.error:
            raise Refused(self.invalid) from None

    def port_name(self, word: str) -> str | None:
        """Return the full name of a port given in any spelling that the system takes, e.g. `et1` -> `Ethernet1`."""
        if found := re.fullmatch(r"([A-Za-z-]+)(\d+(?:/\d+)*(?::\d+)?)", word):
            kinds = [kind for kind in self.ports if kind.lower().startswith(found[1].lower())]
            return f"{kinds[0]}{found[2]}" if len(kinds) == 1 else None
        return None

    def _step(self, states: list[_State], word: str) -> list[_State]:
        """Read one more word: exact keywords win over abbreviations, keywords over arguments."""
        at_keyword = [
            s for s in states if s.index < len(s.elements) and s.elements[s.index].keyword and not s.port_type
        ]
        exact = [s for s in at_keyword if s.elements[s.index].keyword.lower() == word.lower()]
        fitting = exact or [s for s in at_keyword if s.elements[s.index].keyword.lower().startswith(word.lower())]
        arguments = [new for s in states for new in self._arguments(s, word)]
        if len({s.next.keyword for s in fitting}) > 1 and not arguments:
            raise Refused(self.ambiguous)
        advanced = [_advance(s, s.next.keyword) for s in fitting]
        advanced += [] if exact else arguments
        if not advanced:
            raise Refused(self.invalid)
        return advanced

    def _arguments(self, state: _State, word: str) -> list[_State]:
        """Return what a word as an argument leads to: a repeated one goes on, or the next one is filled."""
        found = []
        before = state.elements[state.index - 1] if state.index else Element()
        if before.repeats and (value := self._accept(before, word)) is not None:
            args = {**state.match.args, before.name: f"{state.match.args[before.name]} {value}"}
            grown = Match(state.pattern, args, (*state.match.words, value))
            found.append(replace(state, match=grown))
        element = state.next
        if state.index < len(state.elements) and not element.keyword:
            typed = [kind for kind in self.ports if kind.lower().startswith(word.lower())]
            if element.kind == "port" and len(typed) == 1 and not state.port_type:
                found.append(replace(state, port_type=typed[0]))
            value = self._accept(element, state.port_type + word)
            if value is not None and state.match.args.get(element.name, value) == value:
                found.append(_advance(state, value, element.name))
        return found

    def _accept(self, element: Element, word: str) -> str | None:
        """Return the canonical form of an argument, or None when the word isn't one."""
        kind = element.kind
        if kind in ("word", "rest"):
            return word
        if kind == "int":
            return str(int(word)) if word.isdigit() and _within(element.limits, int(word)) else None
        if kind == "seconds":
            return (
                f"{float(word):g}"
                if re.fullmatch(r"\d*\.?\d+", word) and _within(element.limits, float(word))
                else None
            )
        if kind == "list":
            numbers = expand(word)
            return word if numbers and all(_within(element.limits, number) for number in numbers) else None
        if kind == "port":
            return self.port_name(word)
        if kind == "hms":
            return word if re.fullmatch(r"\d{1,2}:[0-5]\d:[0-5]\d", word) else None
        if kind == "prefix":
            return _prefix(word)
        choices = [choice for choice in kind.split("|") if choice.startswith(word.lower())]
        return choices[0] if len(choices) == 1 or word.lower() in choices else None


@cache
def variants(pattern: str) -> tuple[tuple[Element, ...], ...]:
    """Return the pattern with each `[optional part]` present and absent; the fullest first."""
    parts = re.split(r"\[([^\[\]]*)\]", pattern)
    found = []
    for keep in itertools.product((True, False), repeat=len(parts) // 2):
        pieces = [part if i % 2 == 0 or keep[i // 2] else "" for i, part in enumerate(parts)]
        found.append(tuple(_element(word) for word in " ".join(pieces).split()))
    return tuple(found)


def _element(word: str) -> Element:
    if not word.startswith("<"):
        return Element(keyword=word)
    name, kind, limits = f"{word[1:-1]}::".split(":")[:3]
    return Element(name=name, kind=kind, limits=limits)


def _advance(state: _State, word: str, name: str = "") -> _State:
    args = {**state.match.args, name: word} if name else state.match.args
    grown = Match(state.pattern, args, (*state.match.words, word))
    return _State(state.pattern, state.elements, state.index + 1, grown)


def expand(text: str) -> list[int]:
    """Return the numbers of a list such as `24 26` or `0-7,9`; empty when it isn't one."""
    numbers: list[int] = []
    for part in re.split(r"[ ,]+", text):
        if not (found := re.fullmatch(r"(\d+)(?:-(\d+))?", part)):
            return []
        numbers += range(int(found[1]), int(found[2] or found[1]) + 1)
    return numbers


def _within(limits: str, number: float) -> bool:
    low, high = (float(limit) for limit in limits.split("-"))
    return low <= number <= high


def _prefix(word: str) -> str | None:
    try:
        return str(ipaddress.IPv4Interface(word)) if "/" in word else None
    except ValueError:
        return None
