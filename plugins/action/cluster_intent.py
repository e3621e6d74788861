# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Check the intent in the controller's own process: no host is contacted, whatever the inventory says."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.plugins.loader import filter_loader

from ..module_utils.drawbridge import hostlist
from ..module_utils.drawbridge.intent.chosen import chosen_faults, narrowed_faults, needed
from ..module_utils.drawbridge.intent.fault import Fault, IntentError
from ..module_utils.drawbridge.intent.load import DOMAINS, inventory_faults, load
from ..module_utils.drawbridge.intent.model import Intent

ARGUMENT_SPEC = {"whole_site": {"type": "bool", "default": False}, "nodes": {"type": "raw"}}
OWN_PREFIX = "drawbridge_"

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
        """Intent outside group_vars/all: the inventory's files beside it, and variables of groups and hosts."""
        variable_manager = self._task.get_variable_manager()
        inventory = getattr(variable_manager, "_inventory", None)
        if inventory is None:
            return []
        faults = []
        for source in inventory._sources:
            root = Path(source) if Path(source).is_dir() else Path(source).parent
            for path in sorted([*root.glob("group_vars/**/*"), *root.glob("host_vars/**/*")]):
                if path.is_file() and path.relative_to(root).parts[1].split(".")[0] != "all":
                    content = self._loader.load_from_file(str(path), cache="none")
                    faults += stray_faults(content or {}, str(path.relative_to(root)))
        owners = [*inventory.groups.values(), *inventory.hosts.values()]
        for owner in owners:
            if owner.name != "all":
                faults += stray_faults(owner.vars, f"inventory entry {owner.name}")
        return faults


def stray_faults(content: dict[str, Any], place: str) -> list[Fault]:
    """Faults for the intent's keys found in a place that is not group_vars/all."""
    return [
        Fault(key, place, "the intent is the same for every host and has one place", f"move {key} to group_vars/all")
        for key in sorted(content)
        if key.startswith(OWN_PREFIX)
    ]


def limit_faults(controllers: list[str], task_vars: dict[str, Any]) -> list[Fault]:
    """Refuse a --limit without the controllers: cluster-wide files would silently stay as they are."""
    hosts = set(task_vars.get("ansible_play_hosts_all", []))
    missing = [name for name in controllers if name not in hosts]
    if not missing:
        return []
    nodes = hostlist.compress(sorted(hosts & set(task_vars.get("groups", {}).get("nodes", []))))
    line = f"ansible-playbook playbooks/onboard.yml -e nodes={nodes or 'NODES'}"
    limit = task_vars.get("ansible_limit", "")
    reason = f"it leaves out {hostlist.compress(missing)}, where cluster-wide files are made"
    return [Fault("--limit", limit, reason, f"run without --limit, or onboard single nodes with: {line}")]


def choice_faults(intent: Intent, chosen: Any, task_vars: dict[str, Any]) -> list[Fault]:
    """Refuse a choice of nodes that the intent does not have, or that --limit cuts."""
    if faults := chosen_faults(intent, chosen):
        return faults
    hosts = task_vars.get("ansible_play_hosts_all", [])
    return narrowed_faults(task_vars.get("ansible_limit", ""), needed(intent, chosen), hosts)
