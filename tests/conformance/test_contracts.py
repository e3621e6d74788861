# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Docs, argument specs, role defaults and the intent's declaration say the same."""

from __future__ import annotations

import functools
import importlib
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.layer import open_spec
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import DOMAINS
from packaging.requirements import Requirement

from docs import reference, returns
from docs.generate import (
    FILTER,
    INTENT_SCHEMA,
    INTENT_SPEC,
    JOB_PODS,
    MAN_PAGE,
    METRICS,
    NEIGHBOURS,
    OPTIONS,
    PREFLIGHT,
    PREFLIGHT_SPEC,
    PROOF_CHECKS,
    REFERENCE,
    SUPPORT,
    UPGRADE,
    filter_page,
    intent_spec,
    job_pods_page,
    man_page,
    metrics_page,
    neighbours_page,
    options_page,
    preflight_page,
    preflight_spec,
    proof_checks_page,
    reference_page,
    support_page,
    upgrade_page,
)
from docs.schema import intent_schema
from tests.conformance.tree import ACTIONS, CALLBACKS, FILTER_PAGES, MODULES, ROLES, ROOT, relative

COLLECTION = "ansible_collections.drawbridge.drawbridge.plugins"
ACTION_NAMES = {path.stem for path in ACTIONS}


def argument_spec(name: str) -> dict[str, Any]:
    """Of an action, of its sides together, or of a module's layer, as its options are written in a task."""
    module = importlib.import_module(f"{COLLECTION}.{'action' if name in ACTION_NAMES else 'modules'}.{name}")
    if side := getattr(getattr(module, "ActionModule", None), "side", None):
        return open_spec(side.spec, side.viewed)
    layer = getattr(module, name.upper(), None)
    return open_spec(layer.spec, layer.viewed) if layer else module.ARGUMENT_SPEC


def documentation(name: str) -> dict[str, Any]:
    """A module's page as ansible-doc shows it, with what it shares with others."""
    return modules_documentation()[f"drawbridge.drawbridge.{name}"]["doc"]


@functools.cache
def modules_documentation() -> dict[str, Any]:
    return ansible_doc("module", [f"drawbridge.drawbridge.{path.stem}" for path in MODULES])


def comparable(spec: dict[str, Any], documented: bool) -> dict[str, Any]:
    """What docs and spec must agree on, option by option, nested ones too."""
    nested = "suboptions" if documented else "options"
    return {
        name: {
            "type": option.get("type", "str"),
            "required": option.get("required", False),
            "default": option.get("default"),
            "choices": option.get("choices"),
            "elements": option.get("elements"),
            "options": comparable(option.get(nested) or {}, documented),
        }
        for name, option in spec.items()
    }


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_module_docs_equal_the_argument_spec(path: Path) -> None:
    documented = comparable(documentation(path.stem).get("options") or {}, documented=True)
    assert documented == comparable(argument_spec(path.stem), documented=False)


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_modules_support_check_mode_and_diff_or_say_why_not(path: Path) -> None:
    attributes = documentation(path.stem)["attributes"]
    for name in ("check_mode", "diff_mode"):
        assert attributes[name]["support"] == "full" or len(attributes[name]["description"]) > 10


@pytest.mark.parametrize("path", ACTIONS, ids=relative)
def test_actions_have_a_page_that_says_where_they_run(path: Path) -> None:
    page = ROOT / "library" / path.name
    assert page.is_file(), f"{relative(path)} has no documentation: ansible-doc reads {relative(page)}"
    description = " ".join(documentation(path.stem)["description"])
    assert re.search(r"on the controller|Ansible's own process|this process", description), description


INTENT = {f"drawbridge_{domain}" for domain in DOMAINS}


def role_spec(role: Path) -> dict[str, Any]:
    return yaml.safe_load((role / "meta/argument_specs.yml").read_text())["argument_specs"]


def literal(value: Any) -> bool:
    return "{{" not in json.dumps(value)


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_role_defaults_equal_the_argument_spec(role: Path) -> None:
    path = role / "defaults/main.yml"
    defaults = (yaml.safe_load(path.read_text()) or {}) if path.exists() else {}
    options: dict[str, Any] = {}
    for entry in role_spec(role).values():
        options |= entry.get("options") or {}
    public = set(options) - INTENT
    assert set(defaults) == {name for name in public if not options[name].get("required")}
    for name, value in defaults.items():
        if literal(value):
            assert options[name].get("default") == value, name
        else:
            assert "default" not in options[name], f"{name} is derived; a default in the spec would not be applied"
    for name in public:
        assert name.startswith(f"{role.name}_"), name


@pytest.mark.parametrize("role", ROLES, ids=relative)
def test_private_variables_are_spelled_so(role: Path) -> None:
    for path in sorted((role / "vars").glob("*.yml")):
        for name in yaml.safe_load(path.read_text()) or {}:
            assert name.startswith(f"__{role.name}_"), f"{relative(path)}: {name}"


def test_the_intents_documentation_is_generated() -> None:
    assert INTENT_SPEC.read_text() == intent_spec(), "run `make docs`"


def test_the_intents_schema_is_generated() -> None:
    assert INTENT_SCHEMA.read_text() == intent_schema(), "run `make docs`"


def test_the_documentation_of_views_is_generated() -> None:
    assert FILTER.read_text() == filter_page(), "run `make docs`"
    assert "C(slurm_node): Files of slurmd" in FILTER.read_text()


def test_the_table_of_operating_systems_is_generated() -> None:
    assert SUPPORT.read_text() == support_page()
    assert "| `debian-13` | Debian 13 |" in SUPPORT.read_text()


def test_the_findings_of_preflight_are_generated() -> None:
    assert PREFLIGHT.read_text() == preflight_page(), "run `make docs`"
    assert "| `cgroup_v1` |" in PREFLIGHT.read_text()
    assert PREFLIGHT_SPEC.read_text() == preflight_spec(), "run `make docs`"
    assert " cgroup_v1," in PREFLIGHT_SPEC.read_text()


def test_the_closed_list_and_the_neighbours_of_attacks_are_generated() -> None:
    assert JOB_PODS.read_text() == job_pods_page(), "run `make docs`"
    assert NEIGHBOURS.read_text() == neighbours_page(), "run `make docs`"


def test_the_checks_of_a_proof_are_generated() -> None:
    assert PROOF_CHECKS.read_text() == proof_checks_page(), "run `make docs`"
    assert "| rail PCIe | state |" in PROOF_CHECKS.read_text()


def test_the_tables_of_metrics_are_generated() -> None:
    assert METRICS.read_text() == metrics_page(), "run `make docs`"
    assert "| `drawbridge:gpu_busy:ratio` | node, gpu, GPU_I_ID |" in METRICS.read_text()


def test_the_options_of_playbooks_are_generated() -> None:
    assert OPTIONS.read_text() == options_page(), "run `make docs`"
    assert "| `-e rolling_what=reboot` |" in OPTIONS.read_text()
    assert UPGRADE.read_text() == upgrade_page(), "run `make docs`"
    assert "| `what` | `rolling_what` |" in UPGRADE.read_text()


def test_the_keys_of_the_intent_are_generated_each_with_an_example() -> None:
    assert REFERENCE.read_text() == reference_page(), "run `make docs`"
    assert "| `memory_mib: 515000` | 1024 or more | required |" in REFERENCE.read_text()
    keys = list(reference.keys())
    assert len(keys) > 200
    assert [f"{place.path}.{key.name}" for place, key in keys if not reference.example(place.cls, key.name)] == []


def test_each_page_of_the_reference_belongs_to_a_part_of_the_intent() -> None:
    named = yaml.safe_load(reference.PAGES.read_text())
    assert named.keys() <= {place.path for place in reference.sections().values()}


def test_what_layers_return_is_generated() -> None:
    pages = returns.pages()
    assert len(pages) > 20
    assert [relative(path) for path, page in pages.items() if path.read_text() != page] == [], "run `make docs`"


def test_the_man_page_is_generated() -> None:
    assert MAN_PAGE.read_text() == man_page(), "run `make docs`"


def test_a_release_has_one_version() -> None:
    version = yaml.safe_load((ROOT / "galaxy.yml").read_text())["version"]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == version
    newest = re.search(r"^## v(.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest and newest[1].replace("\\", "") == version, "run `make changelog`"


def ansible_doc(kind: str, names: list[str]) -> dict[str, Any]:
    command = [str(Path(sys.executable).parent / "ansible-doc"), "-t", kind, "--json", *names]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


KINDS = [("module", MODULES), ("filter", FILTER_PAGES), ("callback", CALLBACKS)]


@pytest.mark.parametrize(("kind", "paths"), KINDS, ids=[kind for kind, _ in KINDS])
def test_ansible_doc_knows_everything(kind: str, paths: list[Path]) -> None:
    names = [f"drawbridge.drawbridge.{path.stem}" for path in paths]
    found = ansible_doc(kind, names)
    assert sorted(found) == sorted(names)
    for name, page in found.items():
        assert page["doc"]["short_description"], name
        assert page["examples"], name


def test_ansible_doc_knows_every_role() -> None:
    names = sorted(f"drawbridge.drawbridge.{role.name}" for role in ROLES)
    found = ansible_doc("role", names)
    assert sorted(found) == names
    for name, page in found.items():
        assert page["entry_points"]["main"]["short_description"], name


def test_collections_are_pinned_alike() -> None:
    wanted = {
        item["name"]: item["version"] for item in yaml.safe_load((ROOT / "requirements.yml").read_text())["collections"]
    }
    command = [str(Path(sys.executable).parent / "ansible-galaxy"), "collection", "list", "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    installed = {name: item["version"] for group in json.loads(done.stdout).values() for name, item in group.items()}
    assert wanted == {name: installed[name] for name in wanted}


def needs(lines: list[str]) -> dict[str, Requirement]:
    """Requirements by name; comments and blank lines have none."""
    found = [Requirement(text) for line in lines if (text := line.partition("#")[0].strip())]
    return {it.name: it for it in found}


IMPORTED = needs(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
"""What a run imports on the machine of Ansible, partly by names that are not public."""


@pytest.mark.parametrize(
    ("file", "lock"),
    [
        ("pyproject.toml", "requirements.lock"),
        ("meta/ee-requirements.txt", "requirements.lock"),
    ],
)
def test_a_requirement_has_the_pinned_release_and_not_the_next_major_one(file: str, lock: str) -> None:
    pinned = dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", (ROOT / lock).read_text(), re.MULTILINE))
    named = IMPORTED if file == "pyproject.toml" else needs((ROOT / file).read_text().splitlines())
    ours = [it for name, it in named.items() if name in IMPORTED]
    assert len(ours) >= 4
    assert [str(it) for it in ours if pinned[it.name] not in it.specifier] == []
    assert [str(it) for it in ours if f"{int(pinned[it.name].split('.')[0]) + 1}.0" in it.specifier] == []
