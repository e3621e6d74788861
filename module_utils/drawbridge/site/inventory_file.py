# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The content of an inventory's YAML files. Ansible skips what it does not know there, with a warning at most."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import PurePath
from typing import Any

from ..core.faults import Fault
from .own_names import PREFIX

HOW = "name yours: -i inventories/mine"
SECTIONS = ("hosts", "children", "vars")
SLURM_RANGE = re.compile(r"\[[^\]:]*-[^\]:]*\]")
NEAR = 0.8
"""How alike two names are of which one is a slip of the other: node and nodes, but not gpu and gpu_old."""


def source_faults(source: PurePath, content: Any, named: bool = True) -> Iterator[Fault]:
    """Faults of the content of a YAML file that shall be an inventory, or a part of one.

    `named`: a person named the file, and not a folder above it.
    """
    if not isinstance(content, Mapping):
        yield Fault("inventory", source, "it is no mapping of groups", f"begin it with the group all, or {HOW}")
    elif own := sorted(str(key) for key in content if str(key).startswith(PREFIX)):
        reason = f"it has variables, such as {own[0]}, and no groups"
        folder = "give -i the folder that has hosts.yml, not the file below group_vars"
        yield Fault("inventory", source, reason, folder if named else "move it into the folder group_vars/all")
    elif "plugin" not in content:  # else it is settings of a plugin
        for name, group in content.items():
            yield from (Fault("inventory", source, *said) for said in _of_group(str(name), group))


def _of_group(name: str, group: Any) -> Iterator[tuple[str, str]]:
    """Reasons and repairs for what Ansible does not read, in a group and its children."""
    if group is not None and not isinstance(group, Mapping):
        yield f"the group {name} is {_kind(group)}", f"write its hosts as keys below hosts: below {name}:"
        return
    for key in (str(it) for it in group or () if it not in SECTIONS):
        near = difflib.get_close_matches(key, SECTIONS, 1)
        yield (
            f"Ansible skips the key {key} of the group {name}",
            f"write {near[0]}" if near else f"move {key} below children: of {name}",
        )
    sections: dict[str, Any] = {key: group.get(key) for key in SECTIONS} if group else {}
    for key, value in sections.items():
        if value is not None and not isinstance(value, (Mapping, str)):
            yield f"{key} of the group {name} is {_kind(value)}", "write each entry as a key with a colon: gpu01:"
            sections[key] = {}
    hosts = sections.get("hosts")
    for host, own in hosts.items() if isinstance(hosts, Mapping) else ():
        if own is not None and not isinstance(own, Mapping):
            yield f"the host {host} of the group {name} is {_kind(own)}", f"write {host}: {{ansible_host: ADDRESS}}"
    for host in (str(it) for it in hosts or () if SLURM_RANGE.search(str(it))):
        right = SLURM_RANGE.sub(lambda found: found.group().replace("-", ":"), host)
        yield f"ranges of an inventory have a colon, and {host} of the group {name} has none", f"write {right}"
    children = sections.get("children")
    for child, inner in children.items() if isinstance(children, Mapping) else ():
        yield from _of_group(str(child), inner)


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "no mapping"


def group_file_faults(place: str, owner: str, groups: Iterable[str]) -> Iterator[Fault]:
    """The fault of a file of group_vars whose group is most likely a slip, such as node for nodes."""
    if near := difflib.get_close_matches(owner, [*groups], 1, NEAR):
        reason = f"the inventory has no group {owner}, so nothing reads the file"
        yield Fault(place, owner, reason, f"rename it to the group {near[0]}, or add that group")


def twice_faults(files: Iterable[tuple[str, Iterable[str]]], known: Iterable[str]) -> Iterator[Fault]:
    """Faults of variables that several files of one inventory set for all hosts, such as a copy beside the file."""
    places: dict[str, list[str]] = {}
    own = {*known}
    for place, names in files:
        for name in own.intersection(names):
            places.setdefault(name, []).append(place)
    for name, found in sorted(places.items()):
        if len(found) > 1:
            yield Fault(name, ", ".join(found), "several files set it, and the last one wins", "keep it in one of them")


def address_faults(variables: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Faults of nodes and switches with one address and port, by host. A template has another value for each host."""
    by_address: dict[str, list[str]] = {}
    for host, own in variables.items():
        address = ":".join(str(own[key]) for key in ("ansible_host", "ansible_port") if key in own)
        if "ansible_host" in own and "{{" not in address:
            by_address.setdefault(address, []).append(host)
    for address, hosts in by_address.items():
        for first, second in [*combinations(hosts, 2)][:1]:
            reason = f"{first} has this address too, so that Drawbridge would configure one host as both"
            yield Fault(f"ansible_host of {second}", address, reason, "correct one of them in the inventory")
