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

from tests.unit.module_utils.site.repairs import DELETE, at, derived, in_row, words

ROOT = Path(__file__).resolve().parents[4]
# long: the quick loader
PLACES, CHANGES, ROWS = yaml.load_all((Path(__file__).parent / "refused.yml").read_text(), yaml.CSafeLoader)
WORDS = {"with", "at", "is", "but", "fix", "then"}
STEPS = 12
"""More repairs than any broken intent needs, one after the other."""


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


def patched(patch: dict[str, Any], variables: dict[str, Any] | None = None) -> dict[str, Any]:
    """A copy of the lab's intent, or of another one, with the values of dotted keys."""
    variables = site("lab") if variables is None else copy.deepcopy(variables)
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


def in_full(row: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys of a row as the inventory has them."""
    pairs = ((key.partition("."), value) for key, value in row.items() if key not in WORDS)
    return {f"drawbridge_{PLACES.get(first, first)}{dot}{rest}": value for (first, dot, rest), value in pairs}


def case(name: str, row: dict[str, Any]) -> dict[str, Any]:
    """A row with its defaults."""
    own = {"id": name, **{word: row[word] for word in ("fix", "then") if word in row}}
    if "chosen" in row:
        return {**own, "nodes": row["chosen"], "fault": sentence("nodes", row["chosen"], row)}
    patch = changes(row)
    [key, *_] = in_full({row["at"]: ""} if "at" in row else row)
    value = row["is"] if "is" in row else at(patched(patch), key)
    return {**own, "patch": patch, "fault": sentence(re.sub(r"\.(\d+)", r"[\1]", key), value, row)}


def changes(row: dict[str, Any]) -> dict[str, Any]:
    """All that a row or its repair changes."""
    return {**in_full(CHANGES.get(row.get("with"), {})), **in_full(row)}


def sentence(key: str, value: Any, row: dict[str, Any]) -> str:
    return str(Fault(key, MISSING if value is None else value, *row["but"].rsplit("; ", 1)))


CASES = [case(name, row) for name, row in ROWS.items()]


def test_rows_change_keys_of_the_intent() -> None:
    """A comma that lacks its quotes would make a key of words."""
    changed = {key.partition(".")[0] for case in CASES for key in case.get("patch", ())}
    assert changed <= {*site("lab"), "drawbridge_nfs", "drawbridge_projects", "drawbridge_telemetry"}


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "inventories").iterdir()))
def test_the_shipped_sites_are_accepted(name: str) -> None:
    load(site(name))


def test_leaves_of_a_flat_network_that_the_site_configures_are_optional() -> None:
    without = {"drawbridge_fabric": DELETE, "drawbridge_nodes.ranges.0.leaves": DELETE}
    load(patched({**without, "drawbridge_slurm.topology": "none"}))


def faults(case: dict[str, Any]) -> Sequence[Fault]:
    """Those of a row."""
    return faults_of(refused(case))


def refused(case: dict[str, Any]) -> dict[str, Any]:
    """The intent of a row, or the selection in place of it."""
    return {"nodes": case["nodes"]} if "nodes" in case else patched(case["patch"])


def faults_of(variables: dict[str, Any]) -> Sequence[Fault]:
    if "nodes" in variables:
        return chosen_faults(load(site("lab")), "nodes", variables["nodes"])
    try:
        load(variables)
    except IntentError as err:
        return err.faults
    return ()


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_refused(case: dict[str, Any]) -> None:
    key, *expected = parts(case["fault"])
    all_faults = faults(case)
    found = [fault for fault in all_faults if fault.key == key]
    assert found, all_faults
    assert all(part in whole for part, whole in zip(expected, parts(str(found[0]))[1:])), found[0]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_each_repair_leads_on(case: dict[str, Any]) -> None:
    """Whoever does what a refusal says, and then what the next one says, meets none twice."""
    variables, key, seen = refused(case), parts(case["fault"])[0], set[tuple[str, str]]()
    left = [fault for fault in faults_of(variables) if fault.key == key]
    patch = applied(case["fix"], key) if "fix" in case else derived(left[0], variables, site("lab"))
    assert patch, f"this repair needs a fix in its row: {left[0].repair}"
    while patch and len(seen) < STEPS:
        seen.add((left[0].key, left[0].reason))
        variables = patched(patch, variables)
        left = faults_of(variables)
        assert not seen & {(fault.key, fault.reason) for fault in left}, f"{patch} leads back to {left}"
        patch = derived(left[0], variables, site("lab")) if left else None
    assert [in_row(fault.key) for fault in left[:1]] == [*in_full({case["then"]: ""} if "then" in case else {})], left


def applied(fix: Any, key: str) -> dict[str, Any]:
    """The repair of a row: changes like those of a row, or the new value of the fault's key."""
    return changes(fix) if isinstance(fix, dict) else {in_row(key): fix}


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
