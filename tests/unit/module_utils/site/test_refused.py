# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Broken inventories, at function level: refused.yml is the table."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.faults import (
    MISSING,
    Fault,
    IntentError,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.selection import chosen_faults

ROOT = Path(__file__).resolve().parents[4]
# long: the quick loader
PLACES, CHANGES, ROWS = yaml.load_all((Path(__file__).parent / "refused.yml").read_text(), yaml.CSafeLoader)
WORDS = {"with", "at", "is", "but"}
DELETE = "~delete"


def site(name: str) -> dict[str, Any]:
    """The intent of one of Drawbridge's inventories, as a copy that the caller may change."""
    return copy.deepcopy(_site(name))


@functools.cache
def _site(name: str) -> dict[str, Any]:
    folder = ROOT / "inventories" / name / "group_vars/all"
    content: dict[str, Any] = {}
    for path in sorted(folder.glob("*.yml")):
        content |= yaml.safe_load(path.read_text())
    # what the inventory templates is of no concern here, only that it is a URL
    if "drawbridge_kube" in content:
        content["drawbridge_kube"]["api_server"] = "https://ctl:6443"
    return {key: value for key, value in content.items() if key.startswith("drawbridge_")}


def patched(patch: dict[str, Any]) -> dict[str, Any]:
    variables = site("lab")
    for dotted, value in copy.deepcopy(patch).items():
        *path, last = words(dotted)
        place: Any = variables
        for word in path:
            place = place[word] if isinstance(word, int) else place.setdefault(word, {})
        if value == DELETE:
            del place[last]
        else:
            place[last] = value
    return variables


def words(dotted: str) -> list[Any]:
    return [int(word) if word.isdigit() else word for word in dotted.split(".")]


def value_at(tree: Any, dotted: str) -> Any:
    for word in words(dotted):
        tree = tree[word] if isinstance(word, int) else (tree or {}).get(word)
    return tree


def in_full(row: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys of a row as the inventory has them."""
    pairs = ((key.partition("."), value) for key, value in row.items() if key not in WORDS)
    return {f"drawbridge_{PLACES.get(first, first)}{dot}{rest}": value for (first, dot, rest), value in pairs}


def case(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row with its defaults."""
    if "chosen" in row:
        return {"id": name, "nodes": row["chosen"], "fault": sentence("nodes", row["chosen"], row)}
    patch = {**in_full(CHANGES.get(row.get("with"), {})), **in_full(row)}
    [key, *_] = in_full({row["at"]: ""} if "at" in row else row)
    value = row["is"] if "is" in row else value_at(patched(patch), key)
    return {"id": name, "patch": patch, "fault": sentence(re.sub(r"\.(\d+)", r"[\1]", key), value, row)}


def sentence(key: str, value: Any, row: dict[str, Any]) -> str:
    return str(Fault(key, MISSING if value is None else value, *row["but"].rsplit("; ", 1)))


CASES = [case(name, row) for name, row in ROWS.items()]


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "inventories").iterdir()))
def test_the_shipped_sites_are_accepted(name: str) -> None:
    load(site(name))


def test_leaves_of_a_flat_network_that_the_site_configures_are_optional() -> None:
    without = {"drawbridge_fabric": DELETE, "drawbridge_nodes.ranges.0.leaves": DELETE}
    load(patched({**without, "drawbridge_slurm.topology": "none"}))


def faults(case: dict[str, Any]) -> Sequence[Fault]:
    if "nodes" in case:
        return chosen_faults(load(site("lab")), "nodes", case["nodes"])
    with pytest.raises(IntentError) as caught:
        load(patched(case["patch"]))
    return caught.value.faults


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_refused(case: dict[str, Any]) -> None:
    key, *expected = parts(case["fault"])
    all_faults = faults(case)
    found = [fault for fault in all_faults if fault.key == key]
    assert found, all_faults
    assert all(part in whole for part, whole in zip(expected, parts(str(found[0]))[1:])), found[0]


def parts(sentence: str) -> list[str]:
    """Key, value, reason and repair."""
    key, rest = sentence.split(" is ", 1)
    value, rest = rest.split(", but ", 1)
    return [key, value, *rest.rsplit("; ", 1)]


def test_several_faults_are_reported_together() -> None:
    """Those of single keys, and those of rules between keys."""
    broken = {"drawbridge_fabric.roce.dscp": 99, "drawbridge_slurm.cluster": 7, "drawbridge_nodes": DELETE}
    keys = [fault.key for fault in faults({"patch": broken})]
    assert keys == ["drawbridge_nodes", "drawbridge_slurm.cluster", "drawbridge_fabric.roce.dscp"]
    broken = {"drawbridge_fabric.roce.priority": 6, "drawbridge_nodes.ranges.0.node_class": "h200"}
    assert len(faults({"patch": broken})) == 2
