# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The closed list as CEL: an expression that names all fields of an object that no row of the list allows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import groupby

from .containers import CONTAINERS
from .model import EACH, KEYED
from .pods import PODS
from .workloads import WORKLOADS

LEVELS = {**PODS, **CONTAINERS, **WORKLOADS}

APART = ("Job", "Pod")
"""Levels that policies have lists of, so that no object above them goes through them again."""


def unlisted_fields(name: str, of: str, without: Collection[tuple[str, str]] = ()) -> str:
    """A CEL expression: a list of strings, the fields of an object of this level, down to scalars, that no row has.

    It sees objects as maps, so that a field of an API server that is newer than the list is found, too. `without`:
    levels and fields whose rows the site does not have.
    """
    return " + ".join(_parts(name, of, "", 0, without))


def _parts(name: str, of: str, where: str, depth: int, without: Collection[tuple[str, str]]) -> Iterator[str]:
    level = LEVELS[name]
    known = ", ".join(f"'{key}'" for key in level.known if (name, key) not in without)
    yield f"{of}.filter(k, !(k in [{known}])).map(k, '{where}' + k)"
    it = f"x{depth}"
    for child, fields in groupby(
        sorted(level.below, key=lambda key: level.below[key][1]), lambda key: level.below[key][1]
    ):
        names = [field for field in fields if (name, field) not in without]
        if child in APART or not names:
            continue
        objects = " + ".join(_objects(of, field, level.below[field][0]) for field in names)
        place = f"{where}{'|'.join(names)}."
        inside = " + ".join(_parts(child, it, place, depth + 1, without))
        yield f"({objects}).map({it}, ({inside}).join(' ')).filter(s, s != '')"


def _objects(of: str, field: str, how: str) -> str:
    """The objects of a field, as a list."""
    path = f"{of}.{field}"
    found = {EACH: path, KEYED: f"{path}.map(k, {path}[k])"}.get(how, f"[{path}]")
    return f"(has({path}) ? {found} : [])"
