# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check the intent in the controller's own process: no host is contacted, whatever the inventory says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible import context
from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import filter_loader

from ..module_utils.drawbridge.core import hostlist
from ..module_utils.drawbridge.core.faults import Fault, IntentError
from ..module_utils.drawbridge.site import role_variables
from ..module_utils.drawbridge.site.load import DOMAINS, inventory_faults, load
from ..module_utils.drawbridge.site.model import Intent
from ..module_utils.drawbridge.site.selection import chosen_faults, narrowed_faults, needed

ARGUMENT_SPEC = {"whole_site": {"type": "bool", "default": False}, "nodes": {"type": "raw"}}
OWN_PREFIX = "drawbridge_"
ROLES = {path.parent.parent.name: path for path in Path(__file__).parents[2].glob("roles/*/meta/argument_specs.yml")}
"""Where roles declare what they take. A variable that begins with a role's name is a role's, and may differ by host."""
PARTS = "parts"
"""Where playbooks are that our own ones import: Ansible reads variables beside these as well, for their plays."""

# Ansible forks a process for every task of every host, and loads this file before. What it has then is theirs too: all
# filters and the views behind them, which each of them would compile anew, for as long as a no-op module takes.
with suppress(KeyError):  # imported by something else than Ansible, there is no collection to look into
    filter_loader.get("drawbridge.drawbridge.nic_view")


@dataclass(frozen=True)
class Source:
    """A place that sets variables, and whose: a group's, a host's, or those of all hosts."""

    place: str
    variables: Mapping[str, Any]
    kind: str = ""
    owner: str = "all"
    stray: bool = True
    """Whether the intent has no business there."""


class ActionModule(ActionBase):
    """Reads the five variables and those of roles, checks them, and answers with every fault."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Answer with `faults`, failed if there are any."""
        task_vars = task_vars or {}
        _, args = self.validate_argument_spec(ARGUMENT_SPEC)
        result = super().run(tmp, task_vars)
        keys = [f"{OWN_PREFIX}{domain}" for domain in DOMAINS]
        variables = {key: self._templar.template(task_vars[key]) for key in keys if key in task_vars}
        groups = task_vars.get("groups", {})
        elsewhere = self._elsewhere()
        try:
            intent = load(variables)
            faults = [*inventory_faults(intent, groups), *elsewhere]
            if args["whole_site"]:
                faults += limit_faults(groups.get("controllers", []), task_vars)
            if args["nodes"] is not None:
                faults += choice_faults(intent, args["nodes"], task_vars)
        except IntentError as err:
            faults = [*err.faults, *elsewhere]
        if faults:
            sentences = [str(fault) for fault in faults]
            result.update(failed=True, faults=sentences, msg="\n".join(["the inventory is refused:", *sentences]))
        return {**result, "changed": False}

    def _elsewhere(self) -> list[Fault]:
        """Intent in a wrong place, and role variables that no role takes, wherever they are set."""
        found, seen = [], set()
        for source in self._sources():
            if source.stray:
                found += stray_faults(source.variables, source.place)
            for name, raw in settings(source.variables):
                if (key := (name, repr(raw))) not in seen:  # once for a value that thousands of hosts have
                    seen.add(key)
                    found += self._setting_faults(name, raw, source)
        return found

    def _sources(self) -> Iterator[Source]:
        """Where people set variables: on the command line, for a play, in the inventory, in files beside both."""
        variable_manager: Any = self._task.get_variable_manager()
        inventory = getattr(variable_manager, "_inventory", None)
        if inventory is None:
            return
        play: Any = self._task.get_play()
        yield Source("--extra-vars", variable_manager.extra_vars, stray=False)
        yield Source("vars of the playbook", play.vars, stray=False)
        roots = [Path(source) if Path(source).is_dir() else Path(source).parent for source in inventory._sources]
        # beside this play's, and beside those that were called, which may have plays of their own with our roles
        named = [Path(word).absolute().parent for word in context.CLIARGS.get("args", ()) if Path(word).is_file()]
        for path, source in variable_files(roots, [Path(self._loader.get_basedir()), *named]).items():
            # as Ansible loads them, so that files of its memory are read no second time
            content = self._loader.load_from_file(str(path), cache="all", unsafe=True, trusted_as_template=True)
            yield replace(source, variables=content or {})
        for kind, owners in (("group_vars", inventory.groups), ("host_vars", inventory.hosts)):
            for name, owner in owners.items():
                yield Source(f"inventory entry {name}", owner.vars, kind, name, stray=name != "all")

    def _setting_faults(self, name: str, raw: Any, source: Source) -> list[Fault]:
        """What is wrong with a role variable; with a template, for every host that stands for a group of its hosts."""
        role = role_variables.role_of(name, ROLES)
        declared = role_variables.options(self._entry_points(role))
        if name not in declared:
            return [role_variables.unknown(role, declared, name, source.place)]
        found: list[Fault] = []
        for templar in self._templars(source) if self._templar.is_template(raw) else [self._templar]:
            try:
                value = templar.template(raw)
                now = role_variables.faults(name, declared[name], value, source.place)
            except AnsibleError:  # not known for this host, or not yet: it may be made for others, or later in the run
                continue
            if not now:
                return []
            found = found or now
        return found

    def _entry_points(self, role: str) -> dict[str, Any]:
        return self._loader.load_from_file(str(ROLES[role]), cache="all", unsafe=True)["argument_specs"]

    def _templars(self, source: Source) -> Iterator[Any]:
        """What fills in a source's templates, for one host after the other."""
        variable_manager: Any = self._task.get_variable_manager()
        for host in some_hosts(variable_manager._inventory, source):
            variables = variable_manager.get_vars(play=self._task.get_play(), host=host, task=self._task)
            yield self._templar.copy_with_new_env(available_variables=variables)


def some_hosts(inventory: Any, source: Source) -> list[Any]:
    """The host that has a source's variables, or the first one of the group and of each group in it."""
    if source.kind == "host_vars":
        return [host for name, host in inventory.hosts.items() if name == source.owner]
    group = inventory.groups.get(source.owner)
    groups = group.get_descendants(include_self=True, preserve_ordering=True) if group else []
    return list(dict.fromkeys(hosts[0] for hosts in (each.get_hosts() for each in groups) if hosts))


def variable_files(inventories: list[Path], playbooks: list[Path]) -> dict[Path, Source]:
    """Files in which Ansible finds variables, still unread; each with a name that a person knows it by.

    The intent belongs in those for all hosts of an inventory, and in no others. Beside playbooks that leaves out files
    for all hosts too: not all playbooks have the same, and the inventory's gives way.
    """
    found = {}
    for root in inventories:
        for path in files_of_variables(root):
            if is_read(path.relative_to(root)):
                found[path] = source(path.relative_to(root), str(path.relative_to(root)))
    known = {root.resolve() for root in inventories}
    for folder in playbooks:
        for root in (folder, folder / PARTS):
            for path in files_of_variables(root) if root.resolve() not in known else ():
                if is_read(path.relative_to(root)):
                    name = str(path.relative_to(folder.parent))
                    found[path] = replace(source(path.relative_to(root), name), stray=True)
    return found


def source(path: Path, place: str) -> Source:
    """A file by its path beside an inventory, such as group_vars/nodes.yml or host_vars/gpu01/rails.yml."""
    kind, entry, *inner = path.parts
    owner = entry if inner else re.sub(r"\.(ya?ml|json)$", "", entry)
    return Source(place, {}, kind, owner, is_stray(path))


def files_of_variables(root: Path) -> Iterator[Path]:
    """All files in which variables of groups and hosts may be, through links as Ansible goes, but in no circle."""

    def below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
        real = folder.resolve()
        for path in sorted(folder.iterdir()) if real not in above else ():
            if path.is_dir():
                yield from below(path, (*above, real))
            elif path.is_file():
                yield path

    for name in ("group_vars", "host_vars"):
        if (root / name).is_dir():
            yield from below(root / name, ())


def is_stray(path: Path) -> bool:
    """Whether Ansible reads this file, such as group_vars/nodes/x.yml, and for less than all hosts."""
    return is_read(path) and path.parts[1].split(".")[0] != "all"


def is_read(path: Path) -> bool:
    """Whether Ansible reads this file: it passes over what an editor leaves.

    These are names that begin with a dot or end with ~, and other endings.
    """
    left = any(part.startswith(".") or part.endswith("~") for part in path.parts)
    return not left and path.suffix in ("", ".yml", ".yaml", ".json")


def stray_faults(content: Iterable[str], place: str) -> list[Fault]:
    """Faults for the intent's keys found in a place that is not the inventory's group_vars/all."""
    reason = "the intent is the same for every host and has one place"
    return [
        Fault(key, place, reason, f"move {key} to the inventory's group_vars/all")
        for key in sorted(key for key in content if key.startswith(OWN_PREFIX))
        if not role_variables.role_of(key, ROLES)
    ]


def settings(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Variables of roles among others. This looks at every host of the inventory, and must stay quick."""
    prefixes = tuple(f"{role}_" for role in ROLES)
    for name, raw in variables.items():
        if name.startswith(prefixes):
            yield name, raw


def limit_faults(controllers: list[str], task_vars: dict[str, Any]) -> list[Fault]:
    """Refuse a --limit without the controllers: cluster-wide files would silently stay as they are."""
    hosts = set(task_vars.get("ansible_play_hosts_all", []))
    missing = [name for name in controllers if name not in hosts]
    if not missing:
        return []
    nodes = hostlist.compress(sorted(hosts & set(task_vars.get("groups", {}).get("nodes", []))))
    line = f"ansible-playbook playbooks/onboard.yml -e 'nodes={nodes or 'NODES'}'"
    limit = task_vars.get("ansible_limit", "")
    reason = f"it leaves out {hostlist.compress(missing)}, where cluster-wide files are made"
    return [Fault("--limit", limit, reason, f"run without --limit, or onboard single nodes with: {line}")]


def choice_faults(intent: Intent, chosen: Any, task_vars: dict[str, Any]) -> list[Fault]:
    """Refuse a choice of nodes that the intent does not have, or that --limit cuts."""
    if faults := chosen_faults(intent, chosen):
        return faults
    hosts = task_vars.get("ansible_play_hosts_all", [])
    return narrowed_faults(task_vars.get("ansible_limit", ""), needed(intent, chosen), hosts)
