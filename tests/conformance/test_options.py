# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of playbooks: no playbook reads a variable that a site may use for itself, and one table has them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site import role_variables
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import DOMAINS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.playbook_options import (
    Option,
    of_playbook,
    prefixes,
    read,
)
from jinja2 import Environment, nodes

from tests.conformance.tree import PLAYBOOKS, ROLES, ROOT, relative

FOLDER = ROOT / "playbooks"
OPTIONS = read(yaml.safe_load((ROOT / "meta/options.yml").read_text()))
BY_NAME = {option.name: option for option in OPTIONS}
ROLE_NAMES = [role.name for role in ROLES]
INTENT = {f"drawbridge_{domain}" for domain in DOMAINS}
ANSIBLES = {"dict", "groups", "group_names", "hostvars", "inventory_hostname", "item", "lookup", "now", "omit"}
"""Ansible's own names, besides those that begin with ansible_."""
BARE = {"when", "that", "failed_when", "changed_when", "until", "var"}
"""Keys whose value is an expression, with or without braces."""
INCLUDED = {"rolling_node.yml": ("firmware.yml", "packages.yml", "reboot.yml")}
"""Task files that a template names."""
TOP = sorted(FOLDER.glob("*.yml"))


@dataclass
class Walk:
    """What the plays of a playbook read and set, with all playbooks and task files that they import."""

    files: set[Path] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    """Names that they read and that nothing sets."""
    handed: set[str] = field(default_factory=set)
    """Names that a playbook hands to one that it imports."""
    own: set[str] = field(default_factory=set)
    """Names that plays and tasks set or register."""

    def playbook(self, path: Path, above: frozenset[str] = frozenset()) -> None:
        """Walk a playbook, to whose plays the names `above` are handed."""
        self.files.add(path)
        for play in yaml.safe_load(path.read_text()):
            variables = play.get("vars", {})
            imported = play.get("ansible.builtin.import_playbook")
            if imported:
                self.handed |= set(variables)
                self.read(variables.values(), above)
                self.playbook(path.parent / imported, above | set(variables))
            else:
                self.play(play, path, above)

    def play(self, play: dict[str, Any], path: Path, above: frozenset[str]) -> None:
        """Walk a play. Its variables may name each other."""
        self.own |= set(play.get("vars", {}))
        scope = above | set(play.get("vars", {}))
        self.read([value for key, value in play.items() if key != "tasks"], scope)
        self.tasks(play["tasks"], path, scope)

    def tasks(self, tasks: list[dict[str, Any]], path: Path, scope: frozenset[str]) -> None:
        """Walk tasks and blocks, and the task files that they import."""
        self.files.add(path)
        for task in tasks:
            inner = scope | set(task.get("vars", {}))
            self.own |= set(task.get("vars", {})) | ({task["register"]} if "register" in task else set())
            blocks = [key for key in ("block", "rescue", "always") if key in task]
            self.read([{key: value for key, value in task.items() if key not in blocks}], inner)
            for key in blocks:
                self.tasks(task[key], path, inner)
            for other in task_files(task, path):
                self.tasks(yaml.safe_load(other.read_text()), other, inner)

    def read(self, values: Iterable[Any], scope: frozenset[str]) -> None:
        """Note the names that nothing in scope sets."""
        self.free |= {name for value in values for name in names(value)} - scope


def task_files(task: dict[str, Any], path: Path) -> list[Path]:
    """Task files that a task imports or includes."""
    if static := task.get("ansible.builtin.import_tasks"):
        return [(path.parent / static).resolve()]
    return [path.parent / other for other in INCLUDED[path.name]] if "ansible.builtin.include_tasks" in task else []


def names(value: Any, bare: bool = False) -> Iterator[str]:
    """Variables that the templates and expressions of a value read."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from names(inner, key in BARE)
    elif isinstance(value, list):
        for inner in value:
            yield from names(inner, bare)
    elif isinstance(value, str) and (bare or "{{" in value):
        tree = Environment(autoescape=True).parse(value if "{{" in value else f"{{{{ {value} }}}}")
        yield from (found.name for found in tree.find_all(nodes.Name) if found.ctx == "load")


def walked(path: Path) -> Walk:
    """A whole playbook. A name that a task registers is the playbook's own in all of its plays."""
    walk = Walk()
    walk.playbook(path)
    ours = ANSIBLES | INTENT | walk.own
    walk.free = {
        name
        for name in walk.free - ours
        if not name.startswith("ansible_") and not role_variables.role_of(name, ROLE_NAMES)
    }
    return walk


WALKS = {path.stem: walked(path) for path in TOP}


@pytest.mark.parametrize("playbook", WALKS)
def test_a_playbook_reads_its_options_and_nothing_else_of_the_site(playbook: str) -> None:
    """A site may have a variable `packages` or `boot` of its own. It must have no effect."""
    walk, own = WALKS[playbook], of_playbook(OPTIONS, playbook)
    passed = {option.passed_as for option in own}
    assert (walk.free | walk.handed & BY_NAME.keys()) - passed == {option.name for option in own}


def test_every_file_is_walked() -> None:
    assert {path for walk in WALKS.values() for path in walk.files} == set(PLAYBOOKS)


@pytest.mark.parametrize("playbook", WALKS)
def test_no_play_sets_what_an_option_sets(playbook: str) -> None:
    """With -e it would have the option's value in place of its own."""
    assert WALKS[playbook].own & BY_NAME.keys() == set()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_an_option_has_the_prefix_of_its_playbook(option: Option) -> None:
    """Several playbooks have it by their visit of the nodes. A role's prefix would make it a variable of that role."""
    words = ["visit"] if len(option.playbooks) > 1 else option.playbooks
    assert [word for word in words if option.name.startswith(f"{word}_")] == list(words)
    assert not role_variables.role_of(option.name, ROLE_NAMES)
    assert not option.old.startswith(prefixes(OPTIONS))


def test_no_role_has_variables_with_an_options_prefix() -> None:
    assert [role for role in ROLE_NAMES if f"{role}_".startswith(prefixes(OPTIONS))] == []


@pytest.mark.parametrize("path", TOP, ids=relative)
def test_a_playbook_with_options_checks_them_first(path: Path) -> None:
    """describe.yml writes an intent where there is none to check. The only option of plan.yml was never renamed."""
    renamed = [option for option in of_playbook(OPTIONS, path.stem) if option.old or option.required]
    first = yaml.safe_load(path.read_text())[0]
    told = first.get("vars", {}).get("cluster_intent_playbook")
    assert told == (path.stem if renamed else None)


DECLARED = {
    name
    for role in ROLES
    for entry in yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"].values()
    for name in entry.get("options") or {}
}
FILES = sorted(
    path
    for folder in ("bench", "docs", "lab", "molecule", "playbooks", "roles", "tests", "library", "plugins", "examples")
    for suffix in ("*.md", "*.py", "*.yml")
    for path in (ROOT / folder).rglob(suffix)
)
TYPED = re.compile(r"""(?:-e|--extra-vars)["']?[ ,]+(?:f?["'])?(?:\{+["'])?(\w+)(?:=|["']:)""")
FOREIGN = {"collection/test_options", "collection/test_node_visit", "unit/module_utils/report/test_command"}
FOREIGN |= {"unit/module_utils/site/test_playbook_options", "unit/plugins/callback/test_report", "collection/mistakes."}
"""Tests of refusals, and of variables as such."""


def test_each_variable_with_e_is_an_option_or_a_roles_variable() -> None:
    """In guides, in next steps that a command prints, and in tests, which may run on demand only."""
    texts = [ROOT / "README.md", *(path for path in FILES if relative(path)[6:-3] not in FOREIGN)]
    typed = {(relative(path), name) for path in texts for name in TYPED.findall(path.read_text())}
    known = BY_NAME.keys() | DECLARED | INTENT
    assert len(typed) > len(OPTIONS)
    assert {(path, name) for path, name in typed if name not in known and not name.startswith("ansible_")} == set()
