# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check the intent in the controller's own process: no host is contacted, whatever the inventory says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible import context
from ansible.plugins.action import ActionBase
from ansible.plugins.loader import filter_loader

from ..module_utils.drawbridge.core import hostlist
from ..module_utils.drawbridge.core.faults import Fault, IntentError
from ..module_utils.drawbridge.site.load import DOMAINS, inventory_faults, load
from ..module_utils.drawbridge.site.model import Intent
from ..module_utils.drawbridge.site.selection import chosen_faults, narrowed_faults, needed

ARGUMENT_SPEC = {"whole_site": {"type": "bool", "default": False}, "nodes": {"type": "raw"}}
OWN_PREFIX = "drawbridge_"
OF_ROLES = "drawbridge_run_"
"""Variables of a role whose name begins like the intent's; they may differ by host, as those of any role."""
PARTS = "parts"
"""Where playbooks are that our own ones import: Ansible reads variables beside these as well, for their plays."""

# Ansible forks a process for every task of every host, and loads this file before. What it has then is theirs too: all
# filters and the views behind them, which each of them would compile anew, for as long as a no-op module takes.
with suppress(KeyError):  # imported by something else than Ansible, there is no collection to look into
    filter_loader.get("drawbridge.drawbridge.nic_view")


class ActionModule(ActionBase):
    """Reads the five variables, checks them, and answers with every fault."""

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
        try:
            intent = load(variables)
            faults = [*inventory_faults(intent, groups), *self._strays()]
            if args["whole_site"]:
                faults += limit_faults(groups.get("controllers", []), task_vars)
            if args["nodes"] is not None:
                faults += choice_faults(intent, args["nodes"], task_vars)
        except IntentError as err:
            faults = [*err.faults, *self._strays()]
        if faults:
            sentences = [str(fault) for fault in faults]
            result.update(failed=True, faults=sentences, msg="\n".join(["the intent is refused:", *sentences]))
        return {**result, "changed": False}

    def _strays(self) -> list[Fault]:
        """Intent outside the inventory's group_vars/all: files beside it or the playbooks, variables of its entries."""
        variable_manager = self._task.get_variable_manager()
        inventory = getattr(variable_manager, "_inventory", None)
        if inventory is None:
            return []
        sources = [Path(source) if Path(source).is_dir() else Path(source).parent for source in inventory._sources]
        # beside this play's, and beside those that were called, which may have plays of their own with our roles
        named = [Path(word).absolute().parent for word in context.CLIARGS.get("args", ()) if Path(word).is_file()]
        faults = []
        for path, place in stray_files(sources, [Path(self._loader.get_basedir()), *named]).items():
            faults += stray_faults(self._loader.load_from_file(str(path), cache="none") or {}, place)
        owners = [*inventory.groups.values(), *inventory.hosts.values()]
        for owner in owners:
            if owner.name != "all":
                faults += stray_faults(owner.vars, f"inventory entry {owner.name}")
        return faults


def stray_files(inventories: list[Path], playbooks: list[Path]) -> dict[Path, str]:
    """Files in which Ansible finds variables, but not the intent; each with a name that a person knows it by.

    Beside playbooks these are files for all hosts too: not all playbooks have the same, and the inventory's gives way.
    """
    found = {}
    for root in inventories:
        for path in files_of_variables(root):
            if is_stray(path.relative_to(root)):
                found[path] = str(path.relative_to(root))
    known = {root.resolve() for root in inventories}
    for folder in playbooks:
        for root in (folder, folder / PARTS):
            for path in files_of_variables(root) if root.resolve() not in known else ():
                if is_read(path.relative_to(root)):
                    found[path] = str(path.relative_to(folder.parent))
    return found


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


def stray_faults(content: dict[str, Any], place: str) -> list[Fault]:
    """Faults for the intent's keys found in a place that is not the inventory's group_vars/all."""
    reason = "the intent is the same for every host and has one place"
    return [
        Fault(key, place, reason, f"move {key} to the inventory's group_vars/all")
        for key in sorted(content)
        if key.startswith(OWN_PREFIX) and not key.startswith(OF_ROLES)
    ]


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
