# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of a play, and their arguments as Ansible would evaluate them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

from ansible.errors import AnsibleError
from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.task import Task

from .releases import evaluated, is_true, templar_of

NOTHING: Mapping[str, Any] = MappingProxyType({})
WORD = re.compile(r"[a-z_]\w*")
PATH = re.compile(r"{{ ([a-z_]\w*(?:\.[a-z_]\w*)*) }}")


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


class Settled:
    """Variables of one host that are evaluated once.

    Ansible evaluates a variable anew at each use, and a view costs much.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._known: dict[tuple[str, str], tuple[Any, Any]] = {}
        """Values with what they were made of, by role, where it matters, and name."""

    def values(self, task: Task, variables: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the variables that the task's words name.

        What can't be evaluated yet, such as a variable with the item of a loop, is left out.
        """
        found: dict[str, Any] = {}
        self._settle(f"{task.args} {task.when} {task.loop} {task.get_vars()}", variables, found, set())
        return found

    def _settle(self, text: str, variables: Mapping[str, Any], found: dict[str, Any], seen: set[str]) -> None:
        for name in dict.fromkeys(WORD.findall(text)):
            raw = variables.get(name)
            if name in seen or not isinstance(raw, (str, list, dict)):
                continue
            seen.add(name)
            # `role_path` and its like are another one in each role
            key = str(variables.get("role_path")) if "role_" in str(raw) else "", name
            made_of, value = self._known.get(key, (None, None))
            if made_of is not raw:
                if isinstance(raw, str):
                    self._settle(raw, variables, found, seen)
                try:
                    value = plain(evaluated(templar_of(self._loader, {**variables, **found}), raw))
                except AnsibleError:
                    continue
                self._known[key] = (raw, value)
            found[name] = value


def turns(task: Task, variables: Mapping[str, Any], loader: Any) -> Iterator[dict[str, Any]]:
    """The task's variables for each item of its loop for which its condition is true. Raises AnsibleError."""
    templar = templar_of(loader, variables)
    try:
        loop = evaluated(templar, task.loop) if task.loop else None
    except AnsibleError:
        # as in a run: a list of a part that the site lacks does not matter if the condition is false
        if all(is_true(templar, condition) for condition in listed(task.when)):
            raise
        return
    for item in [{}] if loop is None else [{"item": item} for item in loop]:
        turn = {**variables, **item}
        templar = templar_of(loader, turn)
        if all(is_true(templar, condition) for condition in listed(task.when)):
            yield turn


def arguments(
    task: Task, variables: Mapping[str, Any], loader: Any, names: Any = None, values: Mapping[str, Any] = NOTHING
) -> dict[str, Any]:
    """The task's arguments, or those of `names`, as plain data. Raises AnsibleError.

    `values` are those of variables that hold no template any more. Most arguments are a path into one of them, for
    which Jinja would compile a template each.
    """
    templar = templar_of(loader, {**variables, **values})
    wanted = {name: value for name, value in task.args.items() if names is None or name in names}
    found = {name: _looked_up(value, values) for name, value in wanted.items()}
    return {name: plain(evaluated(templar, wanted[name])) if it is None else it for name, it in found.items()}


def _looked_up(template: Any, values: Mapping[str, Any]) -> Any:
    """The value of a template that is only a path into `values`; None for another one, or if nothing is there."""
    path = PATH.fullmatch(template) if isinstance(template, str) else None
    value: Any = values if path else None
    for key in path[1].split(".") if path else ():
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def plain(value: Any) -> Any:
    """A template's value as plain data, with its lazy parts evaluated."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
