# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of a run, as a report may show it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import PurePath

EXTRA = "--extra-vars"
SHORTEST = "--ex"
"""Ansible accepts any beginning of --extra-vars that no other option has."""
LEFT_OUT = "..."
"""Stands for extra variables, which may hold secrets."""


def shown(argv: Sequence[str]) -> str:
    """The command to repeat the run. Extra variables are left out, but not names of files with them."""
    return " ".join([PurePath(argv[0]).name, *_words(argv[1:])]) if argv else ""


def _words(argv: Sequence[str]) -> Iterator[str]:
    value_follows = False
    for word in argv:
        name, equals, value = word.partition("=")
        if value_follows:
            yield _value(word)
        elif word.startswith("--") and len(name) >= len(SHORTEST) and EXTRA.startswith(name) and equals:
            yield f"{EXTRA}={_value(value)}"
        elif word.startswith("-e") and len(word) > len("-e"):
            yield f"-e {_value(word[len('-e') :])}"
        else:
            yield shlex.quote(word)
        value_follows = not value_follows and _takes_extra(word)


def _takes_extra(word: str) -> bool:
    return word == "-e" or (len(word) >= len(SHORTEST) and EXTRA.startswith(word))


def _value(text: str) -> str:
    return shlex.quote(text) if text.startswith("@") else LEFT_OUT
