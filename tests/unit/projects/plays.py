# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The tasks of projects.yml with their options, in the order of the playbook's files, without Ansible's processes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jinja2 import ChainableUndefined, meta
from jinja2.nativetypes import NativeEnvironment

ROOT = Path(__file__).resolve().parents[3]
ELSEWHERE = ("check.yml", "parts/kube_rights.yml", "parts/status.yml")
"""Parts that change nothing of a project."""
PREFIX = "drawbridge.drawbridge."
ENVIRONMENT = NativeEnvironment(undefined=ChainableUndefined)

Json = dict[str, Any]


@functools.cache
def content(path: str) -> Any:
    """A file of the tree."""
    return yaml.load((ROOT / path).read_text(), yaml.CSafeLoader)


class Variables:
    """Variables of a task, each evaluated when it is read. Those of the first mapping win."""

    def __init__(self, *layers: Mapping[str, Any]) -> None:
        self.layers = layers

    def under(self, layer: Mapping[str, Any]) -> Variables:
        """The same, with others that win."""
        return Variables(layer, *self.layers)

    def __call__(self, value: Any) -> Any:
        """A value without templates."""
        if isinstance(value, Mapping):
            return {key: self(it) for key, it in value.items()}
        if isinstance(value, list):
            return [self(it) for it in value]
        return self._rendered(value) if isinstance(value, str) and "{{" in value else value

    def allows(self, task: Mapping[str, Any]) -> bool:
        """Whether a task's condition holds."""
        return "when" not in task or bool(self._rendered(f"{{{{ {task['when']} }}}}"))

    def _rendered(self, text: str) -> Any:
        template, names = _template(text)
        found = {name: it for name in names for it in self._found(name)}
        return template.render(found)

    def _found(self, name: str) -> Iterator[Any]:
        for layer in self.layers:
            if name in layer:
                yield self(layer[name]) if not callable(layer[name]) else layer[name]
                return


@functools.cache
def _template(text: str) -> tuple[Any, frozenset[str]]:
    return ENVIRONMENT.from_string(text), frozenset(meta.find_undeclared_variables(ENVIRONMENT.parse(text)))


@dataclass(frozen=True)
class Later:
    """Options that are evaluated only for a module that runs."""

    variables: Variables
    options: Json | None

    def evaluated(self) -> Json:
        """The options."""
        return self.variables(self.options or {})


@dataclass(frozen=True)
class Task:
    """A task of a module, with its options."""

    module: str
    options: Later
    role: str
    name: str


def play(variables: Variables, do: Callable[[Task], Any], registered: Json) -> None:
    """Run projects.yml: `do` runs a module. What tasks register becomes part of `registered`."""
    for entry in content("playbooks/projects.yml"):
        part = entry["ansible.builtin.import_playbook"]
        if part not in ELSEWHERE:
            for each in content(f"playbooks/{part}"):
                _play(each, variables.under({**each.get("vars", {}), **entry.get("vars", {})}), do, registered)


def _play(each: Json, variables: Variables, do: Callable[[Task], Any], registered: Json) -> None:
    hosts = variables(each["hosts"])
    if hosts in ("accounting", "!all"):
        return
    for task in each["tasks"]:
        role = task["ansible.builtin.import_role"]
        name = role["name"].removeprefix(PREFIX)
        own = Variables(*variables.layers, content(f"roles/{name}/defaults/main.yml"))
        if own.allows(task):
            _tasks(name, role.get("tasks_from", "main"), own, do, registered)


def _tasks(role: str, entry: str, variables: Variables, do: Callable[[Task], Any], registered: Json) -> None:
    for task in content(f"roles/{role}/tasks/{entry}.yml"):
        module = next(key for key in task if "." in key)
        if not module.startswith((PREFIX, "kubernetes.core.")) or not variables.allows(task):
            continue
        for item in variables(task["loop"]) if "loop" in task else [None]:
            options = Later(variables.under({"item": item}), task[module])
            result = do(Task(module.removeprefix(PREFIX), options, role, task["name"]))
            if "register" in task:
                registered[task["register"]] = result
