# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A configuration as NVUE keeps it: nested objects. NVUE writes some defaults
down, and prints once what ports share."""

from __future__ import annotations

import itertools
import re
from typing import Any

from lab.emulators.fabric.cli.tree import natural
from lab.emulators.fabric.data_model import Tree, leaves
from lab.emulators.fabric.nvue.schema import expand, parse

RENAMED = 15
"""From Cumulus Linux 5.15 on, `enable on` is `state enabled` (NVUE reference, `nv set qos roce state`)."""


def set_(tree: Tree, words: list[str], minor: int) -> None:
    """Do `nv set WORDS`."""
    for path, value in parse(words):
        node = tree
        for key in path[:-1]:
            node = node.setdefault(key, {})
        if value is None:
            node.setdefault(path[-1], {})
        else:
            node[path[-1]] = _stored(path, value)
        _complete(tree, path, minor)


def unset(tree: Tree, words: list[str]) -> None:
    """Do `nv unset WORDS`: the object or value goes, and objects that are empty then. What is not there stays so."""
    for path in _keys(words):
        _drop(tree, path)


def commands(tree: Tree) -> list[str]:
    """Return `nv config show -o commands`."""
    found = [f"nv set {' '.join(path)}{'' if value == {} else f' {value}'}" for path, value in leaves(collapsed(tree))]
    return sorted(found, key=natural)


def collapsed(tree: Tree) -> Tree:
    """Return the configuration as NVUE prints it: what several ports share stands once, under a range of ports."""
    shared: dict[tuple[tuple[str, ...], str], tuple[Any, list[str]]] = {}
    for port, node in tree.get("interface", {}).items():
        for path, value in leaves(node) or [((), {})]:
            shared.setdefault((path, repr(value)), (value, []))[1].append(port)
    ports: Tree = {}
    for (path, _), (value, names) in shared.items():
        node = ports.setdefault(_range(names), {})
        for key in path[:-1]:
            node = node.setdefault(key, {})
        if path:
            node[path[-1]] = value
    return {**tree, "interface": ports} if ports else tree


def _stored(path: list[str], value: str | int) -> str | int:
    """A watchdog takes `enable` and shows `enabled`."""
    if path[-2:] == ["pfc-watchdog", "state"] and str(value) in ("enable", "disable"):
        return f"{value}d"
    return value


def _complete(tree: Tree, path: list[str], minor: int) -> None:
    """Write down what switches a feature on, where only a part of it was set."""
    if path[:2] == ["qos", "roce"]:
        roce = tree["qos"]["roce"]
        if not {"enable", "state"} & roce.keys():
            roce.update({"state": "enabled"} if minor >= RENAMED else {"enable": "on"})
        roce.setdefault("mode", "lossless")
    if path[0] == "interface" and path[2:3] == ["bond"]:
        tree["interface"][path[1]].setdefault("type", "bond")
    if path[0] == "interface" and path[2:4] == ["qos", "pfc-watchdog"]:
        tree["interface"][path[1]]["qos"]["pfc-watchdog"].setdefault("state", "enabled")


def _keys(words: list[str]) -> list[list[str]]:
    named = [expand(word) if at == 1 and words[0] == "interface" else [word] for at, word in enumerate(words)]
    return [list(path) for path in itertools.product(*named)]


def _drop(tree: Tree, path: list[str]) -> None:
    found = tree.get(path[0])
    if len(path) == 1 or not isinstance(found, dict):
        if len(path) == 1 or (len(path) == 2 and str(found) == path[1]):
            tree.pop(path[0], None)
        return
    _drop(found, path[1:])
    if not found and not re.match(r"swp\d", path[0]):
        tree.pop(path[0])


def _range(names: list[str]) -> str:
    """Return `swp1-4,6` for these ports."""
    runs: list[list[str]] = []
    for name in sorted(names, key=natural):
        if runs and _next(runs[-1][-1]) == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    parts, stem = [], ""
    for run in runs:
        part = run[0] if len(run) == 1 else f"{run[0]}-{_number(run[-1])}"
        same = stem == "swp" and re.fullmatch(r"swp\d+(-\d+)?", part)
        parts.append(part.removeprefix("swp") if same else part)
        stem = part.rstrip("0123456789-")
    return ",".join(parts)


def _number(name: str) -> str:
    return name.removeprefix(name.rstrip("0123456789"))


def _next(name: str) -> str:
    number = _number(name)
    return f"{name.removesuffix(number)}{int(number) + 1}" if number else ""
