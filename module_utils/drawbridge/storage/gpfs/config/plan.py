# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From a cluster's node classes and attributes to the wanted ones. Only Drawbridge's classes are changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ....core.converge import Step
from ....core.hostlist import compress
from ..mmfsd import IMMEDIATE
from .text import canonical

CREATE, ADD, DELETE, SET = "create", "add", "delete", "set"
DEFAULT = "DEFAULT"


@dataclass(frozen=True)
class NodeClass:
    """One node class of the cluster."""

    members: frozenset[str]
    settings: Mapping[str, str] = field(default_factory=dict)
    """Attributes that are set for it, as they were typed."""


@dataclass(frozen=True)
class ConfigState:
    """Drawbridge's node classes by name."""

    classes: Mapping[str, NodeClass]
    partial: bool = field(default=False, compare=False)
    """Only some nodes are given: others stay in their classes."""

    def lines(self) -> list[str]:
        """As mmlsnodeclass and mmlsconfig write them."""
        return [
            line
            for name, it in sorted(self.classes.items())
            for line in (
                f"[{name}] {compress(sorted(it.members))}".rstrip(),
                *(f"[{name}] {attribute} {value}" for attribute, value in sorted(it.settings.items())),
            )
        ]


@dataclass(frozen=True)
class Change:
    """One command: its verb, the class, and nodes or attributes with their values."""

    verb: str
    node_class: str
    nodes: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    now: bool = False
    """It takes effect in running daemons too."""


def plan(have: ConfigState, want: ConfigState) -> list[Step[ConfigState]]:
    """Members first, then one command for the attributes that take effect at once, and one for the others."""
    return [step for name in want.classes for step in (*_members(name, have, want), *_settings(name, have, want))]


def _members(name: str, have: ConfigState, want: ConfigState) -> Iterator[Step[ConfigState]]:
    wanted = want.classes[name].members
    if name not in have.classes:
        if wanted:  # a class has at least one node
            yield _with_members(f"create node class {name} of {_shown(wanted)}", name, CREATE, wanted, wanted)
        return
    members = have.classes[name].members
    if missing := wanted - members:
        yield _with_members(f"add {_shown(missing)} to node class {name}", name, ADD, missing, members | missing)
    if not want.partial and (surplus := members - wanted):
        after = (members | wanted) - surplus
        yield _with_members(f"take {_shown(surplus)} out of node class {name}", name, DELETE, surplus, after)


def _settings(name: str, have: ConfigState, want: ConfigState) -> Iterator[Step[ConfigState]]:
    if name not in have.classes and not want.classes[name].members:
        return
    old = have.classes[name].settings if name in have.classes else {}
    new = want.classes[name].settings
    changed = {key: value for key, value in new.items() if canonical(old.get(key, "")) != canonical(value)}
    changed |= {key: DEFAULT for key in old if key not in new}
    for now in (True, False):
        part = {key: value for key, value in changed.items() if (key in IMMEDIATE) == now}
        if part:
            yield Step(_sentence(name, part, now), _becomes(name, new, part), Change(SET, name, (), part, now))


def _sentence(name: str, part: Mapping[str, str], now: bool) -> str:
    text = ", ".join(f"{key} {value}" for key, value in part.items())
    return f"set for node class {name}: {text}{'' if now else ' (in effect after a restart of GPFS)'}"


def _with_members(reason: str, name: str, verb: str, nodes: frozenset[str], after: frozenset[str]) -> Step[ConfigState]:
    def becomes(state: ConfigState) -> ConfigState:
        old = state.classes.get(name, NodeClass(frozenset()))
        return replace(state, classes={**state.classes, name: replace(old, members=after)})

    return Step(reason, becomes, Change(verb, name, tuple(sorted(nodes))))


def _becomes(name: str, new: Mapping[str, str], part: Mapping[str, str]) -> Any:
    def applied(state: ConfigState) -> ConfigState:
        old = state.classes[name]
        kept = {key: value for key, value in old.settings.items() if key not in part}
        added = {key: new[key] for key in part if key in new}
        return replace(state, classes={**state.classes, name: replace(old, settings={**kept, **added})})

    return applied


def _shown(nodes: frozenset[str]) -> str:
    return compress(sorted(nodes))
