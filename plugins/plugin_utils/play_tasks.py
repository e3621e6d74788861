# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of a play, and their arguments as Ansible would evaluate them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.template import Templar


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
    found = {**variables, **task.get_vars()}
    if role:
        defaults = role.get_default_vars(dep_chain=chain)
        private = role.get_vars(chain, include_params=False, only_exports=False)
        here = {"role_path": role._role_path, "role_name": role_name(task), "ansible_role_name": role.get_name()}
        found = {**defaults, **variables, **private, **task.get_vars(), **here}
    path = {"ansible_search_path": [*task.get_search_path(), loader.get_basedir()]}
    return {**found, **task.get_variable_manager().extra_vars, **path}


def turns(task: Task, variables: Mapping[str, Any], loader: Any) -> Iterator[dict[str, Any]]:
    """The task's variables for each item of its loop for which its condition is true. Raises AnsibleError."""
    loop = Templar(loader, variables=dict(variables)).template(task.loop) if task.loop else None
    for item in [{}] if loop is None else [{"item": item} for item in loop]:
        turn = {**variables, **item}
        templar = Templar(loader, variables=turn)
        if all(templar.evaluate_conditional(condition) for condition in listed(task.when)):
            yield turn


def arguments(task: Task, variables: Mapping[str, Any], loader: Any, names: Any = None) -> dict[str, Any]:
    """The task's arguments, or those of `names`, as plain data. Raises AnsibleError."""
    templar = Templar(loader, variables=dict(variables))
    wanted = {name: value for name, value in task.args.items() if names is None or name in names}
    return {name: plain(templar.template(value)) for name, value in wanted.items()}


def plain(value: Any) -> Any:
    """A template's value as plain data, with its lazy parts evaluated."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value
