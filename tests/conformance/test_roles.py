# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A role stands alone: its entry points are declared, its variables are its own, and its README shows how to use it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conformance.tree import PLAYBOOKS, ROLES, ROOT, examples, relative

CALLS = ("ansible.builtin.import_role", "ansible.builtin.include_role")
SCENARIOS = sorted((ROOT / "molecule").rglob("*.yml"))
INTENT = re.compile(r"(?<![\w./-])drawbridge_\w+")
PRIVATE = re.compile(r"(?<!\w)__[a-z]\w*")
EXPRESSION = re.compile(r"{{.*?}}|{%.*?%}", re.DOTALL)
CONDITIONS = {"when", "until", "changed_when", "failed_when", "that", "loop"}
"""Keywords whose texts are expressions without braces."""


def mappings(item: Any) -> Iterator[dict[str, Any]]:
    """All mappings of a document, however deep."""
    if isinstance(item, dict):
        yield item
    for inner in item.values() if isinstance(item, dict) else item if isinstance(item, list) else ():
        yield from mappings(inner)


def calls(content: Any) -> Iterator[tuple[str, str]]:
    """Role and entry point of every call."""
    for item in mappings(content):
        for call in (item[key] for key in CALLS if key in item):
            yield call["name"].rpartition(".")[2], call.get("tasks_from", "main")
        for entry in item.get("roles") or []:
            yield entry["role"].rpartition(".")[2], "main"


CALLED = {call for path in (*PLAYBOOKS, *SCENARIOS) for call in calls(yaml.safe_load(path.read_text()))}
"""Playbooks and scenarios are all that calls roles."""


def entry_points(role: Path) -> set[str]:
    return set(yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"])


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_every_entry_point_is_declared(role: Path) -> None:
    called = {entry for name, entry in CALLED if name == role.name}
    assert called | {"main"} == entry_points(role)
    assert entry_points(role) <= {path.stem for path in (role / "tasks").glob("*.yml")}


def expressions(item: Any, key: str = "") -> Iterator[str]:
    """What Ansible evaluates: texts in braces, and conditions."""
    if isinstance(item, str):
        yield from [item] if key in CONDITIONS else EXPRESSION.findall(item)
    for name, inner in item.items() if isinstance(item, dict) else ():
        yield from expressions(inner, name)
    for inner in item if isinstance(item, list) else ():
        yield from expressions(inner, key)


def work(role: Path) -> Iterator[tuple[Path, str]]:
    """Every expression of a role's tasks, handlers, private variables and templates, with its file."""
    for path in sorted([*role.glob("tasks/**/*.yml"), *role.glob("handlers/*.yml"), *role.glob("vars/*.yml")]):
        yield from ((path, text) for text in expressions(yaml.safe_load(path.read_text())))
    for path in sorted(role.rglob("templates/**/*.j2")):
        yield from ((path, text) for text in EXPRESSION.findall(path.read_text()))


def defaults(role: Path) -> dict[str, Any]:
    path = role / "defaults/main.yml"
    return yaml.safe_load(path.read_text()) if path.is_file() else {}


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_only_defaults_read_the_intent(role: Path) -> None:
    """A role works for whoever sets its own variables."""
    for path, text in work(role):
        read = {name for name in INTENT.findall(text) if not name.startswith(f"{role.name}_")}
        assert not read, f"{relative(path)} reads {read}: wire it to a variable of the role in defaults/main.yml"


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_a_default_wires_the_intent_and_decides_nothing_else(role: Path) -> None:
    for name, value in defaults(role).items():
        if any(INTENT.search(text) for text in expressions(value)):
            assert isinstance(value, str) and re.fullmatch(r"{{((?!}}).)*}}\s*", value, re.DOTALL), name


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_no_role_reads_private_variables_of_another(role: Path) -> None:
    wired = ((role / "defaults/main.yml", text) for value in defaults(role).values() for text in expressions(value))
    for path, text in [*work(role), *wired]:
        strange = {name for name in PRIVATE.findall(text) if not name.startswith(f"__{role.name}_")}
        assert not strange, f"{relative(path)} reads {strange}"


@pytest.mark.parametrize("path", [*PLAYBOOKS, *SCENARIOS], ids=relative)
def test_no_playbook_reads_private_variables(path: Path) -> None:
    assert not [text for text in expressions(yaml.safe_load(path.read_text())) if PRIVATE.search(text)]


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_the_readme_shows_plays_that_need_the_roles_own_variables_alone(role: Path) -> None:
    """tests/collection runs them. The intent is what role cluster_intent is about."""
    plays = examples(role)
    assert role.name in {name for name, _ in calls(plays)}, "show a play with the role in a yaml block"
    shown = "\n".join(expressions(plays))
    read = {name for name in INTENT.findall(shown) if not name.startswith(f"{role.name}_")}
    assert not read and not PRIVATE.search(shown)
    given = {name for play in mappings(plays) for name in play.get("vars") or {}}
    assert not {name for name in given if INTENT.match(name) and not name.startswith(f"{role.name}_")}
