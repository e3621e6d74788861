# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Write the files and commands of a playbook's run into a folder, without contact to any host.

The action evaluates roles, variables and conditions like Ansible. But it writes the arguments of each task to files
instead of sending them to a host.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError
from ansible.playbook import Playbook
from ansible.playbook.play import Play
from ansible.playbook.task import Task
from ansible.plugins.action import ActionBase

from ..module_utils.drawbridge.core.artefact import Artefact
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.faults import Fault, IntentError
from ..module_utils.drawbridge.core.folder.io import written
from ..module_utils.drawbridge.core.layer import VIEW, opened, validated
from ..module_utils.drawbridge.site.artefacts_view import PLACES, READS
from ..module_utils.drawbridge.site.folder_view import Group, Placed, folder_files
from ..module_utils.drawbridge.site.load import load
from ..module_utils.drawbridge.site.model import Intent
from ..module_utils.drawbridge.site.network_view import switch
from ..module_utils.drawbridge.storage.kinds import KINDS
from ..plugin_utils.internals import inventory_files_vars, inventory_of, role_of, role_path
from ..plugin_utils.play_tasks import LEAVES, HostTasks, intent_of, listed, role_name, tasks

ARGUMENT_SPEC = {
    "folder": {"type": "path", "required": True},
    "playbook": {"type": "path", "required": True},
}
FOLDERS = {
    **{"controllers": "slurm_controller", "login": "slurm_login"},
    **{group: name for name, kind in KINDS.items() for group in kind.groups},
}
"""Folders of inventory groups, if they differ from the group's name."""
OTHERS_SPECS = {
    "k8s": {"definition": {"type": "raw"}},
}


class ActionModule(ActionBase):
    """Walks the playbook and converges the folder."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        variables = task_vars or {}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        result = super().run(tmp, variables)
        if limit := variables.get("ansible_limit"):
            fault = Fault("--limit", limit, "a plan is one of the whole site", "run without --limit")
            return {**result, "failed": True, "changed": False, "msg": str(fault)}
        try:
            intent = load(intent_of(self._templar, variables))
            files = Walk(self._loader, self._task.get_variable_manager(), intent).files(args["playbook"])
            return {**result, **written(args["folder"], files, bool(self._task.check_mode))}
        except (IntentError, DeviceError) as err:
            return {**result, "failed": True, "changed": False, "msg": str(err)}


class Walk:
    """One pass over a playbook, with one sample of each group of equal hosts."""

    def __init__(self, loader: Any, variables: Any, intent: Intent) -> None:
        self._loader, self._variables, self._intent = loader, variables, intent
        self._inventory = inventory_of(variables)
        self._public: set[str] = set()
        self._groups: dict[str, dict[str, Any]] = {}

    def files(self, playbook: str) -> dict[str, str]:
        """Text of all files, by their paths below the folder. Raises AnsibleError and DeviceError."""
        path = str(Path(self._loader.get_basedir()) / playbook)
        plays = Playbook.load(path, variable_manager=self._variables, loader=self._loader).get_plays()
        placing = {play: [task for task in tasks(play) if is_placing(task)] for play in plays}
        # hosts that follow from results of a run repeat tasks of another play
        placing = {play: chosen for play, chosen in placing.items() if "{{" not in str(play.hosts)}
        every = list(itertools.chain.from_iterable(placing.values()))
        self._public = {name for task in every for name in defaults(task)}
        groups = {name: self._alike(name) for name in dict.fromkeys(str(it.hosts) for it in placing if placing[it])}
        placed = [
            item
            for play, chosen in placing.items()
            for group in groups.get(str(play.hosts), ())
            for task in chosen
            for item in self._placed(play, task, group)
        ]
        return folder_files(list(itertools.chain.from_iterable(groups.values())), placed, shipped(every))

    def _alike(self, name: str) -> list[Group]:
        """Hosts of an inventory group, in groups of hosts that get the same files."""
        alike: dict[tuple[str, str], list[str]] = {}
        for host in self._inventory.get_hosts(name, ignore_limits=True, ignore_restrictions=True):
            alike.setdefault((self._kind(name, host.name), self._own(host)), []).append(host.name)
        folders: dict[str, Group] = {}
        for (kind, _unused), hosts in alike.items():
            shown = {"switches": f"switches/{hosts[0]}", "nodes": f"nodes/{kind}"}.get(name, FOLDERS.get(name, name))
            folder = f"{shown}-{hosts[0]}" if shown in folders else shown
            folders[folder] = Group(folder, hosts[0], hosts)
        return list(folders.values())

    def _kind(self, group: str, name: str) -> str:
        """A key that is equal for hosts that get the same from the intent."""
        if group == "nodes":
            return self._intent.nodes.by_name[name].node_class
        fabric = self._intent.fabric
        if not (fabric and group == "switches"):
            return group
        return json.dumps(switch(fabric, self._intent.nodes, name))

    def _own(self, host: Any) -> str:
        """Role variables that the inventory sets for this host or its groups, but not for all hosts."""
        groups = [self._of_group(group) for group in host.get_groups() if group.name != "all"]
        return json.dumps([own for own in (*groups, self._of(host)) if own], sort_keys=True, default=str)

    def _of_group(self, group: Any) -> dict[str, Any]:
        if group.name not in self._groups:
            self._groups[group.name] = self._of(group)
        return self._groups[group.name]

    def _of(self, entity: Any) -> dict[str, Any]:
        files = inventory_files_vars(self._loader, self._inventory, [entity])
        return {name: value for name, value in {**entity.vars, **files}.items() if name in self._public}

    def _placed(self, play: Play, task: Task, group: Group) -> Iterator[Placed]:
        """The task's output for the group's sample; none if its condition is false."""
        host = self._inventory.get_host(group.sample)
        here = HostTasks(play, host, self._variables, self._loader, {"ansible_check_mode": False})
        place = PLACES[short(task)]
        needed = inspect.signature(place).parameters
        try:
            found = [place(**arguments(task, args, needed)) for args in here.turns(task, {*needed, VIEW})]
        except AnsibleError as err:
            raise DeviceError(f"{role_name(task)}, task {task.name}: {err}") from err
        if found:
            yield Placed(group.folder, role_name(task), str(task.name), sum(found, Artefact()))


def is_placing(task: Task) -> bool:
    """Whether a task places something, so that a plan shows it."""
    return LEAVES not in listed(task.tags) and short(task) not in READS


def arguments(task: Task, given: Mapping[str, Any], needed: Collection[str]) -> dict[str, Any]:
    """The arguments that are needed, validated as for the module. Raises DeviceError."""
    spec = {name: option for name, option in specification(short(task)).items() if name in needed}
    every = opened(given)
    try:
        return validated(spec, {name: value for name, value in every.items() if name in spec})
    except DeviceError as err:
        raise DeviceError(f"{role_name(task)}, task {task.name}: {err}") from err


def short(task: Task) -> str:
    """The module's name without its collection. Raises DeviceError for a module that the plan can't show."""
    name = task.action.rsplit(".", 1)[-1]
    if name not in PLACES and name not in READS:
        raise DeviceError(f"{task.name}: the plan can't show the output of module {task.action}")
    return name


def defaults(task: Task) -> dict[str, Any]:
    """The public variables of the task's role."""
    role = role_of(task)
    return role.get_default_vars(dep_chain=task.get_dep_chain()) if role else {}


def specification(name: str) -> dict[str, Any]:
    """The argument spec of a module of Drawbridge, with defaults of its side on the host, or from OTHERS_SPECS."""
    if name in OTHERS_SPECS:
        return OTHERS_SPECS[name]
    package = __name__.rsplit(".", 2)[0]
    try:
        action = importlib.import_module(f"{package}.action.{name}")
    except ModuleNotFoundError:
        return dict(getattr(importlib.import_module(f"{package}.modules.{name}"), name.upper()).spec)
    if side := getattr(action.ActionModule, "side", None):
        return {**side.spec, **specification(side.module)}
    return action.ARGUMENT_SPEC


def shipped(some: Iterable[Task]) -> dict[tuple[str, str], str]:
    """Names of the files that come with the roles of these tasks, by role and text."""
    roots = {role_path(role) for role in map(role_of, some) if role}
    return {
        (root.name, path.read_text()): f"roles/{root.name}/{path.relative_to(root)}"
        for root in roots
        for path in (root / "files").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
