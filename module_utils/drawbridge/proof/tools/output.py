# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of any measuring tool: numbers that count, the reasons why a command has none, lines to quote, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...core.printable import printable
from ..measure import Found, Measure, Missing

LONGEST = 160
"""Characters of a quoted line."""
NOT_INSTALLED = 127
_STOPPED = {
    124: "it hung: no result before the time limit (exit code 124)",
    126: "the tool cannot be executed (exit code 126)",
    NOT_INSTALLED: "the tool is not installed (exit code 127)",
    137: "it was killed, by the time limit or for lack of memory (exit code 137)",
    143: "it was ended from outside (exit code 143)",
}


def stopped(code: int) -> str:
    """Why a command with this exit code never came to its result. Empty if the tool itself chose the code.

    A negative code is a signal's number, as subprocess reports it.
    """
    return f"it was ended by signal {-code}" if code < 0 else _STOPPED.get(code, "")


def absent(code: int) -> bool:
    """Whether a command is not installed, or says that what it reads does not run here."""
    return code == NOT_INSTALLED or (code != 0 and not stopped(code))


def first_line(*texts: str) -> str:
    """The first line that is not blank, printable and cut."""
    return _quoted(next(_lines(texts), ""))


def last_line(*texts: str) -> str:
    """The last line that is not blank, printable and cut."""
    return _quoted(next(_lines(["\n".join(texts)], last=True), ""))


def line_with(word: str, *texts: str) -> str:
    """The first line that contains the word, printable and cut; empty without one."""
    return _quoted(next((line for line in _lines(texts) if word in line), ""))


def _lines(texts: Iterable[str], last: bool = False) -> Iterator[str]:
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    return iter(lines[::-1] if last else lines)


def _quoted(line: str) -> str:
    words = printable(" ".join(line.split()))
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."


def not_recognised(code: int, *texts: str) -> str:
    """The reason for text that a parser does not know."""
    return f"not recognised (exit code {code}): {first_line(*texts) or 'no output'}"


def measured(name: str, value: object, unit: str, where: str, scale: float = 1.0) -> Found:
    """A measure of `value` times `scale`; Missing for text, for infinity and for 0 or less.

    No tool measures a rate or a time of 0. A latency of 0 would pass every ceiling.
    """
    read = number(value)
    if not math.isfinite(read) or read <= 0:
        return Missing(name, where, f"the tool printed {first_line(str(value)) or 'nothing'} as the value")
    return Measure(name, read * scale, unit, where)


def number(value: object) -> float:
    """A printed number or a number of JSON; not-a-number for all other values."""
    try:
        return float(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return math.nan


def document(text: str) -> Mapping[str, Any]:
    """The first JSON object that begins at a line's start; lines before and after it are left out.

    Raises ValueError without one, and for JSON that is invalid or unfinished.
    """
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    if not text.startswith("{", at):
        raise ValueError("no JSON")
    try:
        found, _end = json.JSONDecoder().raw_decode(text, at)
    except RecursionError as err:
        raise ValueError("JSON that is nested too deep") from err
    return found


def part(shown: object, key: str) -> Mapping[str, Any]:
    """A mapping inside another one; empty if there is none."""
    found = shown.get(key) if isinstance(shown, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def parts(shown: object, key: str) -> list[Mapping[str, Any]]:
    """A list of mappings inside a mapping; empty if there is none."""
    found = shown.get(key) if isinstance(shown, Mapping) else None
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
