# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The sources of an inventory, as a person named them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

YAML = (".yml", ".yaml", ".json")
BESIDE = ("group_vars", "host_vars", "vars_plugins")
"""Folders beside an inventory, which are no part of it."""


def plain(source: str) -> str:
    """A source relative to the working directory, if it is below it."""
    return os.path.relpath(source) if Path(source).is_relative_to(Path.cwd()) else source


def missing_sources(sources: Iterable[str]) -> Iterator[str]:
    """Paths that are not there. A text with a comma is a list of hosts."""
    yield from (source for source in sources if "," not in source and not Path(source).exists())


def yaml_sources(sources: Iterable[str]) -> Iterator[Path]:
    """The files among the sources that only a YAML inventory can be, those of folders too.

    A program gives its hosts itself, and other endings may be of any kind: Ansible's plugins know them.
    """
    for source in sources:
        path = Path(source)
        if path.is_dir():
            below = (it for it in sorted(path.iterdir()) if it.is_file() and not it.name.startswith("."))
            yield from (it for it in below if it.suffix in YAML)
        elif path.is_file() and path.suffix in YAML and not os.access(path, os.X_OK):
            yield path


def nested_yaml(sources: Iterable[str]) -> Iterator[Path]:
    """YAML files in other folders below a source, such as groupvars/all. Ansible takes each for an inventory."""
    for source in map(Path, sources):
        for folder in _folders(source) if source.is_dir() else ():
            yield from (it for it in sorted(folder.iterdir()) if it.is_file() and it.suffix in YAML)


def _folders(root: Path) -> Iterator[Path]:
    """Folders below a source that are part of it. One of variables is none, also where it lies deeper."""
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and not folder.is_symlink() and folder.name not in BESIDE and folder.name[0] != ".":
            yield folder
            yield from _folders(folder)


def first_line(error: BaseException) -> str:
    """The first sentence of an error of Ansible's, and the line of the file that it is about."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].rstrip(".") if lines else type(error).__name__
    below: BaseException | None = error
    while below and not hasattr(below, "problem_mark"):
        below = below.__cause__ or below.__context__
    mark = getattr(below, "problem_mark", None)
    # before 2.19 a heading of two errors, for JSON and YAML
    said = getattr(below, "problem", said) if said.endswith(":") else said
    return f"line {mark.line + 1}: {said}" if mark else said
