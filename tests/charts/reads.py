# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Which values a chart reads, from its templates: Go's template language as far as charts use it.

A value is read where a template names it, and all of it where a template hands it on as a whole (toYaml, range, tpl).
Helm silently accepts any other value, without effect.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

Path_ = tuple[str, ...]
Tree = dict[str, Any]
WHOLE = "*"
"""Key of a node of which everything is read."""

ACTION = re.compile(r"\{\{-?\s*(?!/\*)(.*?)\s*-?\}\}", re.DOTALL)
COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}", re.DOTALL)
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|`[^`]*`|\$?[A-Za-z_0-9]*(?:\.[A-Za-z_]\w*)+|\$[A-Za-z_]\w*|\$|\.|\w+|:=|\|')
HANDED_ON = {"toYaml", "toJson", "toPrettyJson", "toRawJson", "tpl", "range", "include", "template"}
BLOCKS = {"if", "with", "range", "define", "block"}
ROOT: Path_ = ("",)
"""What `.` and `$` stand for at the top of a template."""


@dataclass
class Walk:
    """One template: what `.` stands for in each block that is open, and what variables stand for."""

    tree: Tree
    dots: list[Path_ | None] = field(default_factory=lambda: [ROOT])
    names: dict[str, Path_ | None] = field(default_factory=dict)

    def action(self, text: str) -> None:
        """What stands between two pairs of braces."""
        tokens = TOKEN.findall(text)
        word = tokens[0] if tokens else ""
        if word == "end":
            self.dots.pop()
        elif word == "else":
            self._else(tokens[1:])
        elif word in BLOCKS:
            self._open(word, tokens[1:])
        else:
            self._expression(tokens)

    def _else(self, tokens: list[str]) -> None:
        self.dots.pop()
        if tokens:
            self._open(tokens[0], tokens[1:])
        else:
            self.dots.append(self.dots[-1])

    def _open(self, word: str, tokens: list[str]) -> None:
        inner: Path_ | None = ROOT if word in ("define", "block") else self.dots[-1]
        if word in ("with", "range"):
            self._expression([word, *tokens])
            named = [path for path in map(self._path, tokens) if path]
            inner = named[0] if named else None
        elif word == "if":
            self._expression(tokens)
        self.dots.append(inner)

    def _expression(self, tokens: list[str]) -> None:
        if ":=" in tokens:
            end = tokens.index(":=")
            paths = [path for path in map(self._path, tokens[end + 1 :]) if path]
            self.names |= {name: paths[0] if paths else None for name in tokens[:end] if name.startswith("$")}
            tokens = [tokens[0], *tokens[end + 1 :]] if tokens[0] == "range" else tokens[end + 1 :]
        whole = bool(HANDED_ON & set(tokens))
        for index, token in enumerate(tokens):
            path = self._path(token)
            if path is None or (path == ROOT and tokens[max(index - 1, 0)] not in ("hasKey", "index", "get")):
                continue
            named = self._named_keys(tokens, index)
            note(self.tree, path[1:] + named, whole and path != ROOT and not named)

    @staticmethod
    def _named_keys(tokens: list[str], index: int) -> Path_:
        """Keys that follow as text: hasKey . "key", index .Values "key" "other"."""
        if index == 0 or tokens[index - 1] not in ("hasKey", "index", "get"):
            return ()
        keys = []
        for token in tokens[index + 1 :]:
            if not token.startswith('"'):
                break
            keys.append(token.strip('"'))
        return tuple(keys)

    def _path(self, token: str) -> Path_ | None:
        """The value that a token names, from the top; None if it names no value."""
        if token.startswith(('"', "`")) or not ("." in token or token.startswith("$")):
            return None
        name, *keys = token.split(".")
        keys = [key for key in keys if key]
        base = self.names.get(name) if name not in ("", "$") else ROOT if name == "$" else self.dots[-1]
        if base is None:
            return None
        if base == ROOT and name in ("", "$"):
            if not keys:
                return ROOT
            return (*ROOT, *keys[1:]) if keys[0] == "Values" else None
        return (*base, *keys)


def note(tree: Tree, path: Path_, whole: bool) -> None:
    """Enter a value that is read, or of which everything is read."""
    for key in path:
        tree = tree.setdefault(key, {})
    if whole and path:
        tree[WHOLE] = {}


def templates(chart: Path, without: Container[str]) -> Iterator[str]:
    """Every template's text, without comments."""
    for path in sorted((chart / "templates").rglob("*")):
        if path.suffix in (".yaml", ".yml", ".tpl", ".txt", ".json") and path.name not in without:
            yield COMMENT.sub("", path.read_text())


def reads(chart: Path, without: Container[str] = ()) -> Tree:
    """The tree of values that a chart and the charts in it read; `without` names files of templates to leave out."""
    tree: Tree = {}
    for text in templates(chart, without):
        walk = Walk(tree)
        for action in ACTION.findall(text):
            walk.action(action)
    about = yaml.safe_load((chart / "Chart.yaml").read_text())
    for dependency in about.get("dependencies", []):
        for condition in dependency.get("condition", "").split(","):
            note(tree, tuple(filter(None, condition.split("."))), False)
        inner = chart / "charts" / dependency["name"]
        if inner.is_dir():
            found = reads(inner)
            merge(tree.setdefault("global", {}), found.pop("global", {}))
            merge(tree.setdefault(dependency.get("alias", dependency["name"]), {}), found)
    if not tree.get("global", True):
        del tree["global"]
    return tree


def merge(tree: Tree, other: Tree) -> None:
    """Enter all of another tree."""
    for key, below in other.items():
        merge(tree.setdefault(key, {}), below)


def outline(tree: Tree, depth: int = 0) -> list[str]:
    """The tree as lines, each value above its parts, which are indented; a value that is read as a whole has none."""
    lines = []
    for key in sorted(tree):
        below = tree[key]
        lines.append(f"{'  ' * depth}{key}{' *' if WHOLE in below else ''}")
        if WHOLE not in below:
            lines += outline(below, depth + 1)
    return lines
