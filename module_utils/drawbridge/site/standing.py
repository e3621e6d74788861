# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The inventory and the tags of a run. Ansible ends with exit code 0 where these leave nothing to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePath

from ..core.faults import Fault
from .inventory_file import HOW
from .model import Intent
from .own_names import PREFIX

EVERYTHING = frozenset({"all"})
TASK_BY_TASK = (frozenset({"all", "apart"}), frozenset({"visit"}))
"""The tags to run and to skip, with which a visit's layers run as tasks."""
OF_MOLECULE = frozenset({"molecule-notest", "molecule-idempotence-notest", "notest"})
"""Molecule skips these tags in each run of a role or a playbook. No task of Drawbridge's has them."""
CORE, PYTHON = (2, 16), (3, 12)
"""The oldest ansible-core and Python of a controller."""


def release_faults(core: str, python: tuple[int, ...]) -> Iterator[Fault]:
    """Faults of the programs that run this. Ansible itself only warns of a collection that needs a later one."""
    found = {"ansible-core": (tuple(map(int, core.split(".")[:2])), CORE), "Python": (python[:2], PYTHON)}
    for name, (runs, needed) in found.items():
        if runs < needed:
            shown, wanted = (".".join(map(str, numbers)) for numbers in (runs, needed))
            repair = f"install {wanted}; make tools does so in Drawbridge's own folder"
            yield Fault(name, shown, f"Drawbridge needs {wanted} or later on this machine", repair)


def without_hosts(sources: Sequence[str]) -> Fault:
    """The fault of an inventory without hosts: no play would do anything."""
    named = ", ".join(sources) or "none"
    return Fault("inventory", named, "it has no hosts, so that a run would do nothing", f"correct it, or {HOW}")


def missing(source: str) -> Fault:
    """The fault of a source that is not there. Ansible only warns of it."""
    return Fault("inventory", PurePath(source), "there is no such file or folder", f"correct the path, or {HOW}")


def tag_faults(run: Collection[str], skip: Collection[str], playbooks: Collection[str]) -> Iterator[Fault]:
    """Faults of tags: they choose no part of a run, and tasks without them would be left out silently."""
    chosen, left = frozenset(run) or EVERYTHING, frozenset(skip) - OF_MOLECULE
    if (chosen == EVERYTHING and not left) or (chosen, left) == TASK_BY_TASK:
        return
    key, words = ("--tags", chosen - EVERYTHING) if chosen != EVERYTHING else ("--skip-tags", left)
    own = [f"playbooks/{word}.yml" for word in sorted(words) if word in playbooks]
    repair = f"run {own[0]}" if own else "run the playbook of that subsystem"
    yield Fault(key, ",".join(sorted(words)), "tags choose no part of a run here", f"{repair}, or all without tags")


def sound(intent: Intent, sources: Iterable[str], switches: int) -> str:
    """One sentence on an intent that was checked, and on its place."""
    kinds = [*intent.filesystems, *(["kube"] if intent.kube else [])]
    hosts = [f"{len(intent.nodes.by_name)} nodes", f"{switches} switch{'' if switches == 1 else 'es'}"]
    parts = [*hosts, *(f"{PREFIX}{kind}" for kind in kinds)]
    return f"the intent of {', '.join(sources)} is sound: {', '.join(parts)}"
