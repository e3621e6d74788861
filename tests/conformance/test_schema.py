# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent's JSON schema accepts each inventory file as it stands, and marks what the reader refuses key by key."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs.generate import INTENT_SCHEMA
from docs.reference import FURTHER
from tests.conformance.tree import ROOT

SCHEMA = json.loads(INTENT_SCHEMA.read_text())
FILES = sorted(ROOT.glob("inventories/*/group_vars/all/*.yml"))
WRONG: list[tuple[tuple[str | int, ...], Any]] = [
    (("drawbridge_nodes", "clases"), {}),
    (("drawbridge_nodes", "classes", "h100", "sockets"), "two"),
    (("drawbridge_nodes", "classes", "h100", "sockets"), 0),
    (("drawbridge_nodes", "ranges"), "gpu[01-04]"),
    (("drawbridge_nodes", "ranges", 0, "node_class"), 3),
    (("drawbridge_fabric", "roce", "dscp"), 64),
    (("drawbridge_fabric", "switches", 0, "tier"), "middle"),
    (("drawbridge_slurm", "partitions", 0, "gate"), "yes"),
    (("drawbridge_slurm", "accounts", 0, "namespace"), "Vision_Lab"),
    (("drawbridge_kube", "gpu_operator", "instal"), True),
]


def intent() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in ("fabric", "kube", "nodes", "slurm", "storage"):
        found |= yaml.safe_load((ROOT / f"inventories/lab/group_vars/all/{name}.yml").read_text())
    return found


def marked(value: Any) -> list[str]:
    return [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(value)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT / "inventories")))
def test_a_file_of_an_inventory_is_accepted(path: Path) -> None:
    assert marked(yaml.safe_load(path.read_text())) == []


def without_required(schema: Any) -> Any:
    """The schema for parts of an intent."""
    if isinstance(schema, list):
        return [without_required(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_required(part) for key, part in schema.items() if key != "required"}


def test_further_examples_of_the_reference_are_accepted() -> None:
    parts = Draft202012Validator(without_required(SCHEMA))
    assert [error.json_path for error in parts.iter_errors(yaml.safe_load(FURTHER.read_text()))] == []


@pytest.mark.parametrize(("place", "value"), WRONG, ids=lambda part: str(part)[:60])
def test_a_wrong_value_is_marked(place: tuple[str | int, ...], value: Any) -> None:
    wrong: Any = copy.deepcopy(intent())
    assert marked(wrong) == []
    inner = wrong
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert len(marked(wrong)) == 1


def test_a_template_can_stand_for_any_value() -> None:
    wrong = intent()
    wrong["drawbridge_nodes"]["classes"]["h100"]["sockets"] = "{{ sockets }}"
    assert marked(wrong) == []
