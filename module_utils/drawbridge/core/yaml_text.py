# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""YAML files of programs on nodes, which may lack a YAML library.

Block and flow style (with it JSON), quotes, comments and literal texts are read; each scalar is a text. Anchors, tags,
folded texts, texts that go on in another line without quotes, and composed keys are refused, so nothing is misread.
"""

from __future__ import annotations

import re
from typing import Any, NoReturn

_START = re.compile(r"\A(?:[ \t]*(?:#.*|%.*)?\n)*?---(?=\s)")
_END = re.compile(r"^(?:---|\.\.\.)(?=\s|\Z)", re.MULTILINE)
_GAP = re.compile(r"(?:[ \t\n]|(?:(?<=[ \t\n])|\A)#.*)*")
_REST = re.compile(r"[ \t]*(?:(?<=[ \t])#.*)?\n")
"""What may follow a value in its line."""
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'", re.DOTALL)
_PLAIN, _PLAIN_IN_FLOW = (
    re.compile(
        rf"(?![&*!|>%@`\"'#,\[\]{{}}]|[?:-](?=\s))"
        rf"(?:[^\s:#{ends}]|:(?=[^\s{ends}])|(?<=[^\s])#|[ \t]+(?=[^\s#:{ends}]|:[^\s{ends}]))+"
    )
    for ends in ("", r",\[\]{}")
)
_COLON, _COLON_IN_FLOW = re.compile(r"[ \t]*:(?=\s)"), re.compile(r"\s*:")
_ITEM = re.compile(r"-(?=\s)")
_LITERAL = re.compile(r"\|([+-]?)[ \t]*(?:#.*)?\n")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b"}
_ESCAPES |= {sign: sign for sign in '"\\/ '}
_OTHER = "this kind of YAML is not read"


def document(text: str) -> Any:
    """The first document: texts, lists and mappings. Raises ValueError."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n")
    text = text if text.endswith("\n") else f"{text}\n"
    start = _START.match(text)
    text = text[start.end() :] if start else text
    end = _END.search(text)
    reader = _Reader(text[: end.start()] if end else text)
    found = reader.block(0)
    return found if reader.gap() < 0 else reader.refuse("it does not belong to what stands before it")


class _Reader:
    """Goes through a text from its beginning."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def refuse(self, why: str) -> NoReturn:
        """Raises ValueError."""
        raise ValueError(f"line {self._text.count(chr(10), 0, self._at) + 1} of the document: {why}")

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        if match := pattern.match(self._text, self._at):
            self._at = match.end()
        return match

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def gap(self) -> int:
        """Skip blanks and comments. Returns the column of what follows, -1 at the end."""
        self._take(_GAP)
        line = self._text[self._text.rfind("\n", 0, self._at) + 1 : self._at]
        if "\t" in line and line.isspace():
            self.refuse("a tab is no indentation")
        return len(line) if self._next() else -1

    def block(self, least: int) -> Any:
        """What begins in this column or behind it; an empty text without it."""
        column = self.gap()
        if column < least:
            return ""
        if _ITEM.match(self._text, self._at):
            return self._sequence(column)
        begun = self._at
        is_mapping = self._key() is not None
        self._at = begun
        return self._mapping(column) if is_mapping else self._value(least)

    def _sequence(self, column: int) -> list[Any]:
        found = []
        while self.gap() == column and self._take(_ITEM):
            found.append(self.block(column + 1))
        return found

    def _mapping(self, column: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self.gap() == column and not _ITEM.match(self._text, self._at):
            key = self._key()
            if key is None or key in found:
                self.refuse("here stands no key, or one that stands above too")
            line_end = self._text.index("\n", self._at)
            below = self.gap() == column and self._at > line_end
            if self._next() and self._at < line_end:
                found[key] = self._value(column + 1)
            elif below and _ITEM.match(self._text, self._at):
                found[key] = self._sequence(column)
            else:
                found[key] = self.block(column + 1)
        return found

    def _key(self) -> str | None:
        """A key before its colon."""
        key = self._quoted() if self._next() in ('"', "'") else self._plain(_PLAIN)
        return key if self._take(_COLON) else None

    def _value(self, least: int) -> Any:
        """A value that is no block."""
        if literal := self._take(_LITERAL):
            return self._literal(max(least, 1), literal[1])
        if self._next() in ("{", "["):
            found = self._flow()
        else:
            found = self._quoted() if self._next() in ('"', "'") else self._plain(_PLAIN)
            found = self.refuse(_OTHER) if found is None else found
        if not self._take(_REST):
            self.refuse(_OTHER)
        return found

    def _literal(self, least: int, chomp: str) -> str:
        lines = []
        while self._at < len(self._text):
            line = self._text[self._at : self._text.index("\n", self._at)]
            if line.strip() and len(line) - len(line.lstrip(" ")) < least:
                break
            lines.append(line)
            self._at += len(line) + 1
        first = next((line for line in lines if line.strip()), "")
        indent = len(first) - len(first.lstrip(" "))
        if any(line.strip() and not line.startswith(" " * indent) for line in lines):
            self.refuse("a line of a text stands further to the left than its first one")
        text = "".join(f"{line[indent:]}\n" for line in lines)
        return text if chomp == "+" else text.rstrip("\n") + ("" if chomp or not text.strip("\n") else "\n")

    def _plain(self, pattern: re.Pattern[str]) -> str | None:
        match = self._take(pattern)
        return match[0] if match else None

    def _quoted(self) -> str:
        match = self._take(_QUOTED)
        if not match:
            self.refuse("a quote does not end")
        if match[0][0] == "'":
            return _folded(match[0][1:-1]).replace("''", "'")
        if "\\\n" in match[0]:
            self.refuse(_OTHER)
        return _ESCAPE.sub(self._escaped, _folded(match[0][1:-1]))

    def _escaped(self, match: re.Match[str]) -> str:
        sign = match[1]
        if len(sign) > 1:
            return chr(int(sign[1:], 16))
        return _ESCAPES[sign] if sign in _ESCAPES else self.refuse(_OTHER)

    def _flow(self) -> Any:
        sign = self._next()
        if sign in ("{", "["):
            return self._flow_mapping() if sign == "{" else self._flow_sequence()
        found = self._quoted() if sign in ('"', "'") else self._plain(_PLAIN_IN_FLOW)
        return self.refuse(_OTHER) if found is None else found

    def _flow_sequence(self) -> list[Any]:
        found = []
        self._at += 1
        while not self._ends("]"):
            found.append(self._flow())
            self._separated("]")
        return found

    def _flow_mapping(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._at += 1
        while not self._ends("}"):
            key = self._flow()
            if not isinstance(key, str) or key in found:
                self.refuse("here stands no key, or one that stands before too")
            self.gap()
            if self._take(_COLON_IN_FLOW):
                self.gap()
                found[key] = "" if self._next() in (",", "}") else self._flow()
            else:
                found[key] = ""
            self._separated("}")
        return found

    def _ends(self, sign: str) -> bool:
        self.gap()
        ended = self._next() == sign
        self._at += ended
        return ended

    def _separated(self, end: str) -> None:
        self.gap()
        if self._next() == ",":
            self._at += 1
        elif self._next() != end:
            self.refuse(f"a comma or {end} is missing")


def _folded(text: str) -> str:
    """A quoted text whose lines are joined: a line break is a blank, further ones stay."""
    first, *rest = text.split("\n")
    if not rest:
        return text
    lines = [first.rstrip(" \t"), *(line.strip(" \t") for line in rest[:-1]), rest[-1].lstrip(" \t")]
    return re.sub(r"\n+", lambda match: match[0][1:] or " ", "\n".join(lines))
