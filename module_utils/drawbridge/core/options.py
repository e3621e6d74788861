# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Declares keys of the intent as fields of frozen dataclasses: types, ranges, choices and words for people.

The same declaration documents the role (`make docs`), types the views, and is what a Reader reads.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any

NAME = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
"""A DNS label: Slurm, Kubernetes and GPFS all accept it as the name of a node or a namespace."""
NONE = type(None)
declared = dataclasses.field
"""For functions that make the fields of other modules' dataclasses."""


@dataclasses.dataclass(frozen=True)
class Shape:
    """What a name or a path may be, with words for who reads a refusal."""

    pattern: str
    what: str
    """What it describes, after C(is not)."""
    bounds: str
    """The pattern in words."""


LABEL = Shape(
    NAME,
    "a DNS label",
    "at most 63 small letters, digits and dashes, with a letter or digit at both ends, such as team-a",
)
PATH = Shape(
    r"/[A-Za-z0-9._/-]+",
    "an absolute path",
    "letters, digits, dots, dashes, underscores and slashes, such as /srv/data",
)
HOSTS = Shape(
    r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?",
    "the name of a host",
    "at most 63 letters, digits, dots, dashes and underscores, such as gpu01, with a letter or digit at both ends",
)
FILE = Shape(
    r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._-]+)+",
    "an absolute path with one spelling",
    "letters, digits, dots, dashes and underscores between single slashes, without . and .. as parts,"
    " such as /opt/site/file",
)


def option(
    doc: str,
    default: Any = dataclasses.MISSING,
    *,
    low: int | None = None,
    high: int | None = None,
    choices: tuple[str, ...] = (),
    pattern: Shape | None = None,
    hosts: Shape | None = None,
) -> Any:
    """A documented key of the intent.

    `low` and `high` bound integers, `choices` and `pattern` texts. A text whose default is empty may be empty. `hosts`
    makes the text a hostlist expression of such names.

    The site chooses the keys of a `dict`. The keys of a `Mapping` are another program's; a `Mapping` of `Any` is not
    checked further.
    """
    accepted = pattern.pattern if pattern else ""
    if pattern and default == "":
        accepted = f"({accepted})?"
    rules = {"doc": doc, "low": low, "high": high, "choices": choices, "pattern": accepted, "shape": pattern}
    rules |= {"hosts": hosts, "default": default}
    if isinstance(default, (dict, list)):
        raise TypeError("a default is immutable: use a tuple or a frozen dataclass")
    if isinstance(default, Mapping):
        # Python 3.11 refuses a default that has no hash
        return declared(default_factory=lambda: default, metadata=rules)
    return declared(default=default, metadata=rules)


def content(doc: str, default: str = "") -> Any:
    """A key that has the text of a file, in a language of its own. It may have the signs of a template."""
    return declared(default=default, metadata={**option(doc, default).metadata, "content": True})


def or_word(listed: Any, word: str) -> Any:
    """The same key of a list, in whose place the word may be. It is read as a list of this word alone."""
    return declared(default=listed.metadata["default"], metadata={**listed.metadata, "instead": word})


def may_repeat(listed: Any) -> Any:
    """The same key of a hostlist, which may name a host several times."""
    return declared(default=listed.metadata["default"], metadata={**listed.metadata, "repeats": True})


def keyed(mapping: Any, keys: Shape) -> Any:
    """The same mapping with keys of this shape instead of words."""
    default = mapping.default_factory
    return declared(default_factory=default, metadata={**mapping.metadata, "keys": keys})


def required(hint: Any) -> tuple[Any, bool]:
    """A type without its None, and whether it had one: a part of the intent that a site may lack."""
    args = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Union and NONE in args:
        [inner] = [arg for arg in args if arg is not NONE]
        return inner, True
    return hint, False
