# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of a play, with their keywords and arguments as Ansible evaluates them.

Ansible alone evaluates: its variable manager, its templar, and the task's own method. Only the order of these calls and
the variables of a loop are written here. Ansible has them inside the executor, which would also run the task.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ansible.errors import AnsibleError, AnsibleUndefinedVariable
from ansible.playbook.attribute import NonInheritableFieldAttribute
from ansible.playbook.block import Block
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.template import Templar

from ..module_utils.drawbridge.site.own_names import of_intent
from .internals import compile_once, engine, role_of
from .releases import evaluated, evaluated_args, is_true

FROM_THE_RUN = (
    *("ansible_play_hosts", "ansible_play_hosts_all", "ansible_play_batch", "play_hosts"),
    *("ansible_current_hosts", "ansible_failed_hosts"),
)
"""Variables that Ansible takes from the state of the run. They are the same for all tasks of a host at one moment."""
LEAVES = "leaves"
"""The tag of tasks that take away what the intent has no more. A visit runs them where the role has been before."""


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
    role = role_of(task)
    return role.get_name(include_role_fqcn=False) if role else "playbook"


class HostTasks:
    """Evaluates tasks of a play for one host."""

    def __init__(
        self, play: Play, host: Any, manager: Any, loader: Any, run: Mapping[str, Any], connection: Any = None
    ) -> None:
        """`run` holds the variables of FROM_THE_RUN, and others that win. `connection` adds ansible_host and others."""
        self._play, self._host, self._manager, self._loader = play, host, manager, loader
        self._run, self._connection = run, connection
        self._connected: Any = None
        """The variable ansible_connection, where the site sets it: `connection` adds it in any case."""
        self._found: tuple[Any, dict[str, Any]] = (None, {})
        """The variables of the last task, behind all that Ansible takes of a task for them."""
        self._templar: Any = Templar(loader, {})
        compile_once(self._templar)

    def turns(self, task: Task, names: Any = None, hidden: Any = ()) -> Iterator[dict[str, Any]]:
        """The task's arguments as plain data: once, or for each item of its loop, if its condition is true.

        `names` are the arguments to evaluate, by default all. Variables in `hidden` are undefined. Raises AnsibleError.
        """
        variables = self._variables(task, hidden)
        self._connected = variables.get("ansible_connection")
        for more in self._items(task, variables):
            every = {**variables, **more}
            if self._connection is not None:
                self._connection.update_vars(every)
            if self._meets(task, every):
                yield self._arguments(task, names)

    def lost_keywords(self, task: Any, visit: Any) -> list[str]:
        """Keywords that have no effect if another task, the visit, runs the module, for the variables of the last turn.

        A keyword that both inherit with the same value is not lost. Raises AnsibleError.
        """
        known = {name: it for name, it in task.fattributes.items() if name not in OWN}
        lost = [name for name, it in known.items() if self._is_lost(name, it, task, _expected(name, it, visit))]
        control = task.loop_control
        others = {name: it for name, it in control.fattributes.items() if name not in LOOP}
        return lost + [name for name, it in others.items() if self._is_lost(name, it, control, _default(it))]

    def _is_lost(self, name: str, attribute: Any, holder: Any, expected: Any) -> bool:
        value = getattr(holder, name)
        if _same(name, value, expected):
            return False
        if name == "connection" and self._connected is not None:
            return False  # the variable wins over the keyword, for the visit as well
        found = holder.get_validated_value(name, attribute, evaluated(self._templar, value), self._templar)
        return not _same(name, found, expected)

    def _variables(self, task: Task, hidden: Any) -> dict[str, Any]:
        path = (*task.get_search_path(),)
        # tasks of a role follow each other, and see the same variables if none has its own
        of_task = (
            role_of(task),
            task.get_dep_chain(),
            task.get_vars(),
            task.get_include_params(),
            task.environment,
            path,
        )
        if self._found[0] != of_task:
            self._found = (of_task, self._manager.get_vars(play=self._play, host=self._host, task=task))
        base = self._loader.get_basedir()
        every = {**self._found[1], **self._run, "ansible_search_path": [*path, *([] if base in path else [base])]}
        return {name: value for name, value in every.items() if name not in hidden}

    def _items(self, task: Task, variables: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The variables of each turn. A loop over something undefined is no error if the condition is false anyway."""
        if task.loop_with:
            raise AnsibleError(f"a layer of a visit can't have with_{task.loop_with}; write its items as loop")
        if task.loop is None:
            yield {}
            return
        self._templar.available_variables = variables
        try:
            items = evaluated(self._templar, task.loop)
        except AnsibleUndefinedVariable:
            if self._meets(task, variables):
                raise
            return
        if not isinstance(items, list):
            raise AnsibleError(f"the loop of task {task.name} is no list, but {type(items).__name__}")
        control: Any = task.loop_control
        name = evaluated(self._templar, control.loop_var)
        for item in items:
            yield {name: item, "ansible_loop_var": name}

    def _meets(self, task: Task, variables: dict[str, Any]) -> bool:
        self._templar.available_variables = variables
        return all(is_true(self._templar, self._loader, condition) for condition in listed(task.when))

    def _arguments(self, task: Task, names: Any) -> dict[str, Any]:
        """For the variables that the condition was evaluated with."""
        found: Any = task
        if names is not None:
            found = task.copy(exclude_tasks=True)
            found.args = {name: raw for name, raw in task.args.items() if name in names}
        return plain(evaluated_args(found, engine(self._templar)))


def plain(value: Any) -> Any:
    """A template's value as plain data, without Ansible's marks on it. Keys are texts, as JSON has them."""
    if isinstance(value, dict):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def intent_of(templar: Any, variables: Mapping[str, Any]) -> dict[str, Any]:
    """The evaluated variables of the intent."""
    return {key: plain(templar.template(variables[key])) for key in of_intent(variables)}


def _key(key: Any) -> str:
    return json.dumps(key) if key is None or isinstance(key, (bool, int, float)) else str(key)


OWN = frozenset(
    {
        *("name", "action", "args", "vars", "when", "loop", "loop_control", "register", "tags", "collections"),
        # another name of async
        "async_val",
    }
)
"""Keywords that a visit heeds for each layer, or that do not change what a task does."""
LOOP = frozenset({"loop_var", "label"})
"""Keywords of loop_control that a visit heeds, or that only change the output."""


def _expected(name: str, attribute: Any, visit: Any) -> Any:
    """The value that has no effect of its own. Before 2.19 Ansible heeds module_defaults only as it runs a module."""
    own = isinstance(attribute, NonInheritableFieldAttribute) or name == "module_defaults"
    return _default(attribute) if own else getattr(visit, name)


def _default(attribute: Any) -> Any:
    return attribute.default() if callable(attribute.default) else attribute.default


def _same(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a keyword are equal. Without a value, it may be missing or empty, or have empty items."""
    first, second = (_bare(name, value) for value in (one, other))
    return bool(first == second)


def _bare(name: str, value: Any) -> Any:
    if name == "connection":
        return str(value).rpartition(".")[2]
    # false is no empty item: `failed_when: false` has an effect
    found = [item for item in value if item not in (None, "", [], {})] if isinstance(value, list) else value
    return [] if found is None or found == {} else found
