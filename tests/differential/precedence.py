# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Plays in which each pair of places sets one variable to different values."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from tests.differential.files import Site, layer_task, visit_task
from tests.differential.runs import different

LEVELS = (
    *("default", "group_all", "group_nodes", "host", "play", "vars_file", "role_vars", "block", "task"),
    *("fact", "result", "extra"),
)
"""Places of a variable in every play."""
CALLS: Mapping[str, str] = {"entry": "param", "import": "call"}
"""Plays by how they call the role, each with the place that only it has."""


def pairs(call: str) -> list[tuple[str, str]]:
    """All pairs of places in one play."""
    return list(itertools.combinations((*LEVELS, CALLS[call]), 2))


def values(call: str, level: str) -> dict[str, str]:
    """What a place sets: for all its pairs, a text that names the place and the host."""
    names = [f"Pair_{call}_{one}_{other}" for one, other in pairs(call) if level in (one, other)]
    return {name: f"{level} of {{{{ inventory_hostname }}}}" for name in names}


def write(site: Site) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Write variables and roles; return the plays and the extra variables."""
    extra: dict[str, str] = {}
    plays: list[dict[str, Any]] = []
    shared = {"group_vars/all": "group_all", "group_vars/nodes": "group_nodes", "host_vars/one": "host"}
    for folder, level in {**shared, "host_vars/two": "host"}.items():
        site.write(f"{folder}/pairs.yml", {name: text for call in CALLS for name, text in values(call, level).items()})
    for call in CALLS:
        extra |= values(call, "extra")
        _role(site, call)
        plays.append(_play(site, call))
    return plays, extra


def _role(site: Site, call: str) -> None:
    role = f"precedence_{call}"
    shown = {f"precedence/{call}_{one}_{other}": f"{{{{ Pair_{call}_{one}_{other} }}}}" for one, other in pairs(call)}
    task = layer_task("Write all pairs", shown, vars=values(call, "task"))
    site.role(role, [{"block": [task], "vars": values(call, "block")}])
    site.write(f"roles/{role}/defaults/main.yml", values(call, "default"))
    site.write(f"roles/{role}/vars/main.yml", values(call, "role_vars"))


def _play(site: Site, call: str) -> dict[str, Any]:
    site.write(f"pairs_{call}.yml", values(call, "vars_file"))
    tags = ["never", "apart"]
    facts = {"name": "Set facts", "ansible.builtin.set_fact": values(call, "fact"), "tags": ["always"]}
    results = [
        {"name": "Register", "ansible.builtin.debug": {"msg": text}, "register": name, "tags": ["always"]}
        for name, text in values(call, "result").items()
    ]
    before = [facts, *results, visit_task()]
    head = {"name": f"precedence {call}", "hosts": "nodes", "gather_facts": False, "connection": "local"}
    head |= {"vars": values(call, "play"), "vars_files": [f"pairs_{call}.yml"], "pre_tasks": before}
    if call == "entry":
        return {**head, "roles": [{"role": f"precedence_{call}", "tags": tags, **values(call, "param")}]}
    task = {"ansible.builtin.import_role": {"name": f"precedence_{call}"}, "vars": values(call, "call"), "tags": tags}
    return {**head, "tasks": [task]}


def compare(call: str, pair: Sequence[str], plain: Mapping[str, str], visit: Mapping[str, str]) -> list[str]:
    """Differences of one pair on both hosts."""
    return different([f"{host}/precedence/{call}_{pair[0]}_{pair[1]}" for host in ("one", "two")], plain, visit)
