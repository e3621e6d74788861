# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check the intent in the controller's own process, without contact to any host."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from ansible import context
from ansible.errors import AnsibleError
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import lookup_loader
from ansible.release import __version__

from ..module_utils.drawbridge.core import hostlist
from ..module_utils.drawbridge.core.faults import Fault, IntentError
from ..module_utils.drawbridge.fabric.links import unchecked
from ..module_utils.drawbridge.fabric.nos.capabilities import lacking
from ..module_utils.drawbridge.report.sentences import count
from ..module_utils.drawbridge.site import role_variables
from ..module_utils.drawbridge.site.compose import present
from ..module_utils.drawbridge.site.inventory_file import (
    address_faults,
    group_file_faults,
    source_faults,
    twice_faults,
)
from ..module_utils.drawbridge.site.load import checked
from ..module_utils.drawbridge.site.model import DOMAINS, OPTIONAL, Intent
from ..module_utils.drawbridge.site.own_names import PREFIX, by_end, of_intent, spelling_faults, unread
from ..module_utils.drawbridge.site.playbook_options import EXTRA, Given, read
from ..module_utils.drawbridge.site.selection import chosen_faults, idle_faults, narrowed_faults, needed
from ..module_utils.drawbridge.site.standing import missing, release_faults, sound, tag_faults, without_hosts
from ..plugin_utils.internals import inventory_of, inventory_sources
from ..plugin_utils.inventories import first_line, missing_sources, nested_yaml, plain, yaml_sources
from ..plugin_utils.play_tasks import intent_of
from ..plugin_utils.releases import TRUSTED, evaluated
from ..plugin_utils.variable_files import (
    Source,
    duplicate_faults,
    file_faults,
    positions,
    template_faults,
    variable_files,
)

ARGUMENT_SPEC = {
    "whole_site": {"type": "bool", "default": False},
    "onboard": {"type": "str", "default": ""},
    "nodes": {"type": "raw"},
    "part": {"type": "bool", "default": False},
    "playbook": {"type": "str", "default": ""},
    "only_inventory": {"type": "bool", "default": False},
    "configures": {"type": "list", "elements": "str", "default": []},
}
INTENT = tuple(f"{PREFIX}{domain}" for domain in DOMAINS)
"""The variables of the intent."""
ROLES = {path.parent.parent.name: path for path in Path(__file__).parents[2].glob("roles/*/meta/argument_specs.yml")}
"""Argument specs of roles. A variable that begins with a role's name belongs to the role and may differ by host."""
PREFIXES = tuple(f"{role}_" for role in ROLES)
OPTIONS = Path(__file__).parents[2] / "meta/options.yml"
"""The table of options of playbooks. Names that begin as theirs belong to them."""
PLAYBOOKS = frozenset(path.stem for path in Path(__file__).parents[2].glob("playbooks/*.yml"))

# Ansible loads this file before it forks a process for each task of each host. The views that are loaded here
# are part of these processes. Without this line each would import them again, which takes as long as a no-op module.
with suppress(KeyError):  # outside of Ansible there is no collection
    lookup_loader.get("drawbridge.drawbridge.view")


class ActionModule(ActionBase):
    """Reads and checks the variables of the intent and those of roles."""

    _requires_connection = False
    _supports_check_mode = True
    TRANSFERS_FILES = False

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        task_vars = task_vars or {}
        _result, args = self.validate_argument_spec(ARGUMENT_SPEC)
        result = super().run(tmp, task_vars)
        intent: Intent | None = None
        faults = self._standing_faults(task_vars)
        if not faults and not args["only_inventory"]:
            intent, faults = self._judged(args, task_vars)
        if faults:
            places = self._places([fault.key for fault in faults])
            sentences = [f"{fault}{places.get(fault.key, '')}" for fault in faults]
            # Ansible shows both, so the sentences are in one of them
            result.update(failed=True, faults=sentences, msg=f"refused: {count(len(sentences), 'fault')}")
        elif intent:
            result.update(self._said(intent, task_vars))
        return {**result, "changed": False}

    def _judged(self, args: Mapping[str, Any], task_vars: dict[str, Any]) -> tuple[Intent | None, list[Fault]]:
        """The intent, and the faults of it, of the options of this run and of role variables."""
        groups = task_vars.get("groups", {})
        options = self._run_options(args["playbook"], task_vars)
        elsewhere = [*self._elsewhere(), *options.faults(), *self._named(options, task_vars)]
        try:
            intent, faults = checked(intent_of(self._templar, task_vars), groups, args["part"])
        except IntentError as err:
            return None, [*err.faults, *elsewhere]
        except AnsibleError:
            raw = {name: task_vars[name] for name in of_intent(task_vars)}
            if not (found := [it for name in raw for it in template_faults(self._templar, name, raw[name])]):
                raise
            return None, found
        faults += elsewhere
        if args["whole_site"]:
            command = " -i ".join(["ansible-playbook", *self._inventories()])
            onboard = args["onboard"].replace("ansible-playbook", command)
            faults += limit_faults(groups.get("controllers", []), onboard, task_vars)
        limit, left = task_vars.get("ansible_limit", ""), task_vars.get("ansible_play_hosts_all", [])
        faults += idle_faults(limit, args["configures"], groups, left)
        if intent and args["nodes"] is not None:
            faults += choice_faults(intent, "nodes", args["nodes"], task_vars)
        if intent and (name := options.selecting()):
            faults += choice_faults(intent, name, self._templar.template(task_vars.get(name, "")), task_vars)
        return intent, faults

    def _said(self, intent: Intent, task_vars: Mapping[str, Any]) -> dict[str, list[str]]:
        """What no fault stands for. It is displayed, and so is a sentence on the intent that was checked."""
        links, lacks = (unchecked(intent.fabric), lacking(intent.fabric)) if intent.fabric else ([], [])
        there = {f"{PREFIX}{name}" for name in intent.filesystems}
        there |= {f"{PREFIX}{domain}" for domain in present(by_end(task_vars))}
        left = {key: title for name, title in OPTIONAL.items() if (key := f"{PREFIX}{name}") not in there}
        alone = [f"no {key}: Drawbridge leaves {title} alone" for key, title in left.items()]
        switches = len(task_vars.get("groups", {}).get("switches", ()))
        # a callback may write JSON to standard output
        for said in (*links, *lacks, *alone, sound(intent, self._inventories(), switches)):
            self._display.display(said, stderr=True)
        return {"unchecked": links, "lacking": lacks}

    def _inventories(self) -> list[str]:
        variable_manager: Any = self._task.get_variable_manager()
        inventory = inventory_of(variable_manager)
        return [plain(source) for source in inventory_sources(inventory)] if inventory else []

    def _standing_faults(self, task_vars: Mapping[str, Any]) -> list[Fault]:
        """Faults of inventory and tags, without which nothing else can be judged."""
        tags = task_vars.get("ansible_run_tags", ()), task_vars.get("ansible_skip_tags", ())
        faults = [*release_faults(__version__, sys.version_info[:2]), *tag_faults(*tags, PLAYBOOKS)]
        faults += map(missing, missing_sources(self._inventories()))
        faults += self._source_faults(self._inventories())
        if not faults:
            shared = (path for path, source in self._variable_files.items() if source.owner == "all")
            faults += file_faults(self._loader, self._variable_files)
            faults += duplicate_faults([*yaml_sources(self._inventories()), *shared])
        empty = not any(task_vars.get("groups", {}).values())
        return [*faults, *([without_hosts(self._inventories())] if empty and not faults else [])]

    def _source_faults(self, sources: list[str]) -> Iterator[Fault]:
        """Faults of what the files of inventories hold, also in folders that a person took for group_vars."""
        nested = {*nested_yaml(sources)}
        for path in (*yaml_sources(sources), *sorted(nested)):
            try:
                content = self._loader.load_from_file(str(path.absolute()), cache="none", unsafe=True, **TRUSTED)
            except AnsibleError as err:
                if path not in nested:
                    yield Fault("inventory", path, first_line(err), "correct it, and run this again")
                continue
            if path not in nested or of_intent(content if isinstance(content, Mapping) else ()):
                yield from source_faults(path, content, str(path) in sources)

    def _named(self, options: Given, task_vars: Mapping[str, Any]) -> Iterator[Fault]:
        """Faults of options that name a host which their group does not have."""
        for name, group in options.naming():
            value = self._templar.template(task_vars[name])
            if value not in task_vars.get("groups", {}).get(group, ()):
                yield Fault(name, value, f"the group {group} has no such host", "name one of its hosts")

    def _run_options(self, playbook: str, task_vars: Mapping[str, Any]) -> Given:
        """The options of this run, with the table of all of them."""
        table = self._loader.load_from_file(str(OPTIONS), cache="all", unsafe=True)
        return Given(read(table), playbook, self._given(), task_vars)

    def _given(self) -> dict[str, Mapping[str, Any]]:
        """Variables of this run alone, by their place."""
        variable_manager: Any = self._task.get_variable_manager()
        play: Any = self._task.get_play()
        return {EXTRA: variable_manager.extra_vars, "vars of the playbook": play.vars}

    def _elsewhere(self) -> list[Fault]:
        """Intent in a wrong place, and role variables that no role accepts, from all places."""
        variable_manager: Any = self._task.get_variable_manager()
        inventory = inventory_of(variable_manager)
        found, seen = self._beside(inventory) if inventory else [], set()
        for source in self._sources():
            if source.stray:
                found += stray_faults(source.variables, source.place)
            found += unread_faults(source.variables, source.place)
            for name, raw in settings(source.variables):
                if (key := (name, repr(raw))) not in seen:  # one check for a value that thousands of hosts have
                    seen.add(key)
                    found += self._setting_faults(name, raw, source)
        return found

    def _beside(self, inventory: Any) -> list[Fault]:
        """Faults of files of variables that nothing reads or that hide each other, and of addresses."""
        found, shared = [], {}
        for path, source in self._variable_files.items():
            content = self._loader.load_from_file(str(path), cache="all", unsafe=True, **TRUSTED) or {}
            if source.kind == "group_vars" and source.owner == "all" and not source.stray:
                root = str(path).removesuffix(source.place)
                shared.setdefault(root, []).append((source.place, content))
            elif source.kind == "group_vars" and source.owner not in inventory.groups and [*settings(content)]:
                found += group_file_faults(source.place, source.owner, inventory.groups)
        for files in shared.values():
            found += twice_faults(files, of_intent(name for _place, content in files for name in content))
        of_groups = [inventory.groups[name] for name in ("nodes", "switches") if name in inventory.groups]
        hosts = {host.name: host.vars for group in of_groups for host in group.get_hosts()}
        return [*found, *address_faults(hosts)]

    def _places(self, keys: Iterable[str]) -> dict[str, str]:
        """Where keys of the intent are set, for the ends of sentences."""
        given = self._given()[EXTRA]
        heads = {key: key.partition(".")[0] for key in keys}
        own = {key: head for key, head in heads.items() if of_intent([head])}
        files = [path for path, source in self._variable_files.items() if source.owner == "all"]
        lines = positions(files, own)
        found = {key: f" ({plain(str(path))}:{line})" for key, (path, line) in lines.items()}
        return {**found, **{key: " (-e)" for key, variable in own.items() if variable in given}}

    def _sources(self) -> Iterator[Source]:
        """All places that set variables: the command line, the play, the inventory, and files beside both."""
        variable_manager: Any = self._task.get_variable_manager()
        inventory = inventory_of(variable_manager)
        if inventory is None:
            return
        for place, variables in self._given().items():
            yield Source(place, variables, stray=False)
        for path, source in self._variable_files.items():
            # through Ansible's loader, which has most of these files in its cache
            content = self._loader.load_from_file(str(path), cache="all", unsafe=True, **TRUSTED)
            yield replace(source, variables=content or {})
        for kind, owners in (("group_vars", inventory.groups), ("host_vars", inventory.hosts)):
            for name, owner in owners.items():
                yield Source(f"inventory entry {name}", owner.vars, kind, name, stray=name != "all")

    @cached_property
    def _variable_files(self) -> dict[Path, Source]:
        """Files beside the inventories, this play, and the playbooks of the command line, whose other plays count."""
        variable_manager: Any = self._task.get_variable_manager()
        inventory = inventory_of(variable_manager)
        sources = map(Path, inventory_sources(inventory) if inventory else ())
        roots = [source if source.is_dir() else source.parent for source in sources]
        named = [Path(word).absolute().parent for word in context.CLIARGS.get("args", ()) if Path(word).is_file()]
        return variable_files(roots, [Path(self._loader.get_basedir()), *named])

    def _setting_faults(self, name: str, raw: Any, source: Source) -> list[Fault]:
        """Faults of a role variable. A template is evaluated for one host of each group."""
        role = role_variables.role_of(name, ROLES)
        declared = role_variables.options(self._entry_points(role))
        if name not in declared:
            return [role_variables.unknown_variable(role, declared, name, source.place)]
        found: list[Fault] = []
        for templar in self._templars(source) if self._templar.is_template(raw) else [self._templar]:
            try:
                value = evaluated(templar, raw)
                now = role_variables.faults(name, declared[name], value, source.place)
            except AnsibleError:  # undefined for this host, or until later in the run
                continue
            if not now:
                return []
            found = found or now
        return found

    def _entry_points(self, role: str) -> dict[str, Any]:
        return self._loader.load_from_file(str(ROLES[role]), cache="all", unsafe=True)["argument_specs"]

    def _templars(self, source: Source) -> Iterator[Any]:
        variable_manager: Any = self._task.get_variable_manager()
        for host in some_hosts(inventory_of(variable_manager), source):
            variables = variable_manager.get_vars(play=self._task.get_play(), host=host, task=self._task)
            yield self._templar.copy_with_new_env(available_variables=variables)


def some_hosts(inventory: Any, source: Source) -> list[Any]:
    """The host of a source, or the first host of the group and of each of its child groups."""
    if source.kind == "host_vars":
        return [host for name, host in inventory.hosts.items() if name == source.owner]
    group = inventory.groups.get(source.owner)
    groups = group.get_descendants(include_self=True, preserve_ordering=True) if group else []
    return list(dict.fromkeys(hosts[0] for hosts in (each.get_hosts() for each in groups) if hosts))


def stray_faults(content: Iterable[str], place: str) -> list[Fault]:
    """Faults for variables of the intent outside the inventory's group_vars/all."""
    reason = "the intent is the same for every host and has one place"
    return [
        Fault(key, place, reason, f"move {key} to the inventory's group_vars/all") for key in sorted(of_intent(content))
    ]


def unread_faults(content: Iterable[str], place: str) -> list[Fault]:
    """Faults for names of Drawbridge's space that are neither the intent's nor a role's."""
    others = [name for name in content if name.startswith(PREFIX) and not role_variables.role_of(name, ROLES)]
    misspelt = [name for name in content if "-" in name or not name.islower()]
    return [
        *(unread(others, INTENT, place) if others else ()),
        *(spelling_faults(misspelt, (PREFIX, *PREFIXES), place) if misspelt else ()),
    ]


def settings(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Role variables among others. It runs for each host of the inventory, so it must be fast."""
    for name, raw in variables.items():
        if name.startswith(PREFIXES):
            yield name, raw


def limit_faults(controllers: list[str], onboard: str, task_vars: dict[str, Any]) -> list[Fault]:
    """Refuse a --limit without the controllers, because cluster-wide files would silently stay as they are."""
    hosts = set(task_vars.get("ansible_play_hosts_all", []))
    missing = [name for name in controllers if name not in hosts]
    if not missing:
        return []
    nodes = hostlist.compress(sorted(hosts & set(task_vars.get("groups", {}).get("nodes", []))))
    repair = "run without --limit"
    if onboard:
        repair += f", or onboard single nodes with: {onboard.replace('{nodes}', nodes or 'NODES')}"
    reason = f"it leaves out {hostlist.compress(missing)}, where cluster-wide files are made"
    return [Fault("--limit", task_vars.get("ansible_limit", ""), reason, repair)]


def choice_faults(intent: Intent, name: str, chosen: Any, task_vars: dict[str, Any]) -> list[Fault]:
    """Refuse nodes that the intent does not have, and a --limit without hosts that they need."""
    if faults := chosen_faults(intent, name, chosen):
        return faults
    hosts = task_vars.get("ansible_play_hosts_all", [])
    return narrowed_faults(task_vars.get("ansible_limit", ""), name, needed(intent, chosen), hosts)
