# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of a play, and their arguments as Ansible would evaluate them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from ansible.errors import AnsibleError
from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.task import Task

from .direct import Direct
from .direct_filters import Unknown, plain
from .releases import evaluated, is_true, templar_of

NOTHING: Mapping[str, Any] = MappingProxyType({})
MAGIC = frozenset(
    {"groups", "hostvars", "vars", "play_hosts", "ansible_play_hosts", "ansible_play_hosts_all", "ansible_play_batch"}
)
"""Ansible's own lists of hosts. They hold no templates; to look for some would cost as much as the site is large."""
WORD = re.compile(r"[a-z_]\w*")


def tasks(play: Play) -> Iterator[Task]:
    """All tasks of a play in their order, whatever their tags, without those that Ansible adds itself."""

    def within(block: Block) -> Iterator[Task]:
        for item in listed(block.block):
            if isinstance(item, Block):
                yield from within(item)
            elif not item.implicit:
                yield item

    for block in play.compile():
        yield from within(block)


def listed(value: Any) -> list[Any]:
    """A list field of a playbook object, which Ansible's types don't declare as a list."""
    return value or []


def role_name(task: Task) -> str:
    """The role without its collection."""
    return task._role.get_name(include_role_fqcn=False) if task._role else "playbook"


def in_role(task: Task, variables: Mapping[str, Any], loader: Any) -> dict[str, Any]:
    """A host's variables as the task sees them, from those that another task of the same play sees."""
    role, chain = task._role, task.get_dep_chain()
    own: dict[str, Any] = cast(Any, task.get_vars())
    extra: dict[str, Any] = cast(Any, task.get_variable_manager()).extra_vars
    path = {"ansible_search_path": [*task.get_search_path(), loader.get_basedir()]}
    if not role:
        return {**variables, **own, **extra, **path}
    defaults: dict[str, Any] = cast(Any, role.get_default_vars(dep_chain=chain))
    private: dict[str, Any] = role.get_vars(chain, include_params=False, only_exports=False)
    here = {"role_path": role._role_path, "role_name": role_name(task), "ansible_role_name": role.get_name()}
    return {**defaults, **variables, **private, **own, **extra, **here, **path}


def words(task: Task) -> str:
    """All of a task that a visit evaluates, as a text."""
    return f"{task.args} {task.when} {task.loop} {task.get_vars()}"


class Settled:
    """Variables of one host that are evaluated once.

    Ansible evaluates a variable anew at each use, and a view costs much.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._known: dict[tuple[str, str], tuple[Any, Any]] = {}
        """Values with what they were made of, by role, where it matters, and name."""
        self._texts: dict[int, tuple[Any, str]] = {}
        """Variables as texts, which is slow for the intent of a large site, by identity."""

    def values(self, task: Task, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the variables that the task's words name.

        What can't be evaluated yet, such as a variable with the item of a loop, is left out.
        """
        return self.named(words(task), variables)

    def runs(self, task: Task, variables: Mapping[str, Any]) -> bool:
        """Whether the task's condition is true, by the variables that it names alone. Raises AnsibleError."""
        values = self.named(f"{task.when} {task.get_vars()}", variables)
        return any(True for _turn in turns(task, variables, self._loader, values))

    def named(self, text: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the variables that a text names, as in values()."""
        found: dict[str, Any] = {}
        self._settle(text, variables, found, set())
        return found

    def text(self, raw: Any) -> str:
        """A variable as a text."""
        if id(raw) not in self._texts:
            self._texts[id(raw)] = raw, str(raw)
        return self._texts[id(raw)][1]

    def _settle(self, text: str, variables: Mapping[str, Any], found: dict[str, Any], seen: set[str]) -> None:
        for name in dict.fromkeys(WORD.findall(text)):
            raw = variables.get(name)
            if name in seen or name in MAGIC or not isinstance(raw, (str, list, dict)):
                continue
            seen.add(name)
            # `role_path` and its like are another one in each role
            text_of = self.text(raw)
            key = str(variables.get("role_path")) if "role_" in text_of else "", name
            known, value = self._known.get(key, (None, None))
            if known is not raw:
                if "{{" in text_of or "{%" in text_of:
                    self._settle(text_of, variables, found, seen)
                try:
                    value = self.evaluated(raw, variables, found)
                except (AnsibleError, Unknown):
                    continue
                self._known[key] = (raw, value)
            found[name] = value

    def evaluated(self, raw: Any, variables: Mapping[str, Any], found: Mapping[str, Any]) -> Any:
        """The value of one variable. Raises AnsibleError."""
        return _value(raw, variables, found, self._loader)


def turns(
    task: Task, variables: Mapping[str, Any], loader: Any, values: Mapping[str, Any] = NOTHING
) -> Iterator[dict[str, Any]]:
    """The task's variables for each item of its loop for which its condition is true. Raises AnsibleError.

    `values` are those of variables that hold no template any more.
    """
    every = {**variables, **values}
    try:
        loop = _loop(task.loop, variables, values, loader) if task.loop else None
    except AnsibleError:
        # as in a run: a list of a part that the site lacks does not matter if the condition is false
        if all(_holds(condition, every, values, loader) for condition in listed(task.when)):
            raise
        return
    for item in [{}] if loop is None else [{"item": item} for item in loop]:
        turn = {**every, **item}
        if all(_holds(condition, turn, values, loader) for condition in listed(task.when)):
            yield turn


def _loop(raw: Any, variables: Mapping[str, Any], values: Mapping[str, Any], loader: Any) -> Any:
    try:
        return Direct(loader, values, variables).value(raw)
    except Unknown:
        return evaluated(templar_of(loader, {**variables, **values}), raw)


def _holds(condition: Any, variables: Mapping[str, Any], values: Mapping[str, Any], loader: Any) -> bool:
    try:
        return Direct(loader, values, variables).holds(condition)
    except Unknown:
        return is_true(templar_of(loader, variables), condition)


def arguments(
    task: Task, variables: Mapping[str, Any], loader: Any, names: Any = None, values: Mapping[str, Any] = NOTHING
) -> dict[str, Any]:
    """The task's arguments, or those of `names`, as plain data. Raises AnsibleError."""
    wanted = {name: value for name, value in task.args.items() if names is None or name in names}
    return {name: _value(raw, variables, values, loader) for name, raw in wanted.items()}


def _value(raw: Any, variables: Mapping[str, Any], values: Mapping[str, Any], loader: Any) -> Any:
    """The value of a template as plain data. Raises AnsibleError."""
    direct, every = Direct(loader, values, variables), {**variables, **values}
    try:
        return direct.value(raw)
    except Unknown:
        templar = templar_of(loader, every)
    if isinstance(raw, (dict, list)):
        # most of its parts need no templating; what is left out by `omit` concerns the whole
        with contextlib.suppress(AnsibleError):
            return direct.value(raw, lambda part: plain(evaluated(templar, part)))
    return plain(evaluated(templar, raw))
