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
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import checked, load
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.selection import chosen_faults

ROOT = Path(__file__).resolve().parents[4]
# long: the quick loader
PLACES, CHANGES, ROWS = yaml.load_all((Path(__file__).parent / "refused.yml").read_text(), yaml.CSafeLoader)
WORDS = {"with", "at", "is", "but"}
DELETE = "~delete"
GROUPS = {
    "nodes": ["gpu01", "gpu02", "gpu03", "gpu04"],
    "switches": ["leaf1", "leaf2", "spine1"],
    "controllers": ["ctl"],
    "storage_admins": ["nsd1"],
    "infra": ["infra1"],
}


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


@pytest.mark.parametrize(
    ("admin", "change", "sentence"),
    [
        ("nsd1", {}, ""),
        # the site may configure infra nodes itself
        ("nsd1", {"infra": None}, ""),
        ("nsd1", {"nodes": ["gpu01", "gpu02", "gpu03"]}, "group nodes has no gpu04"),
        ("nsd1", {"nodes": [*GROUPS["nodes"], "gpu05"]}, 'nodes is "gpu05", but drawbridge_nodes.ranges does not'),
        ("nsd1", {"switches": ["leaf1", "spine1"]}, "group switches has no leaf2"),
        ("nsd1", {"controllers": ["ctl2"]}, "group controllers has no ctl"),
        ("nsd1", {"storage_admins": []}, "group storage_admins has no nsd1"),
        ("nsd1", {"infra": []}, "the inventory's group infra has no infra1"),
        ("nsd1", {"infra": ["infra1", "infra2"]}, 'infra is "infra2", but drawbridge_kube.infra does not have it'),
        (
            "nsd1",
            {"accounting": ["ctl"]},
            'group accounting is "ctl", but slurmdbd runs on the controller; take it out',
        ),
        ("nsd[1-2]", {"storage_admins": ["nsd1", "nsd2"]}, ""),
        ("nsd[1-2]", {"storage_admins": ["nsd1"]}, "the inventory's group storage_admins has no nsd2"),
        ("nsd[1-2]", {"storage_admins": ["nsd[1-2]"]}, "the inventory's group storage_admins has no nsd[1-2]"),
        ("nsd[1-2]", {"storage_admins": ["nsd1", "nsd2", "nsd3"]}, '"nsd3", but drawbridge_gpfs.admin does not'),
    ],
)
def test_inventory_and_intent_have_the_same_hosts(admin: str, change: dict[str, Any], sentence: str) -> None:
    groups = {name: hosts for name, hosts in {**GROUPS, **change}.items() if hosts is not None}
    intent, found = checked(patched({"drawbridge_gpfs.admin": admin}), groups)
    faults = [str(fault) for fault in found]
    assert intent
    assert bool(faults) is bool(sentence) and sentence in " ".join(faults), faults


def test_a_part_of_the_site_lacks_hosts_but_has_none_of_its_own() -> None:
    assert checked(site("lab"), {"nodes": ["gpu02"]}, part=True)[1] == []
    _intent, [fault] = checked(site("lab"), {"nodes": ["gpu02", "gpu99"]}, part=True)
    assert 'group nodes is "gpu99", but drawbridge_nodes.ranges does not have it' in str(fault)


def test_groups_are_compared_beside_other_faults_unless_their_own_domain_is_broken() -> None:
    broken = patched({"drawbridge_slurm.cluster": 7, "drawbridge_fabric.roce.priority": 6})
    intent, faults = checked(broken, {**GROUPS, "nodes": ["gpu01"], "controllers": ["other"]})
    assert intent is None
    keys = [fault.key for fault in faults]
    assert keys[0] == "drawbridge_slurm.cluster"
    assert "drawbridge_nodes.ranges" in keys, "the group of nodes differs, and drawbridge_nodes is whole"
    assert "group controllers" not in keys, "drawbridge_slurm is broken, so that its controller is not known"
    assert any(key.startswith("drawbridge_fabric.cnp") for key in keys), "rules of a whole domain"
