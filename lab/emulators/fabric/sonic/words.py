# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which form of a command a user typed."""

from __future__ import annotations


def taken(form: str, words: list[str]) -> list[str] | None:
    """Return the words that stand for `*` (one) and a last `**` (all others) of a form; None if it does not fit."""
    pattern = form.split()
    rest: list[str] = []
    if pattern[-1] == "**":
        pattern, words, rest = pattern[:-1], words[: len(pattern) - 1], words[len(pattern) - 1 :]
    if len(pattern) != len(words) or any(want not in ("*", word) for want, word in zip(pattern, words, strict=True)):
        return None
    return [word for want, word in zip(pattern, words, strict=True) if want == "*"] + rest
