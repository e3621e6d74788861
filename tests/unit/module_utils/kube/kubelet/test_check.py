# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Wrong kubelet configurations, at function level: refused.yml is the table."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.check import (
    born_open,
    changed_reservations,
    faults,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.view import kubelet
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.numa import Machine

from tests.unit.module_utils.lab import NODES, kube

WORDS = {"at", "is", "but", "dies", "runs", "fix", "then"}
ROWS = yaml.safe_load((Path(__file__).parent / "refused.yml").read_text())
CASES = [
    {**row, "id": name, "change": {key: value for key, value in row.items() if key not in WORDS}}
    for name, row in ROWS.items()
]
DISK = {"nodefs.available": "10%", "nodefs.inodesFree": "5%", "imagefs.available": "15%", "imagefs.inodesFree": "5%"}
VIEW = kubelet(NODES, kube(join="site", packages=[]), "gpu01")
MACHINE = Machine(**VIEW["options"]["machine"])


def good() -> dict[str, Any]:
    """What role kubelet_numa makes of the lab's intent where the site joins its nodes: the most that it ever makes."""
    config = copy.deepcopy(VIEW["config"])
    config["evictionHard"] |= DISK
    return config


def merged(target: Any, patch: Any) -> Any:
    """RFC 7396, as kubelets merge drop-ins."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def refused(config: dict[str, Any], machine: Machine = MACHINE, site_joins: bool = True) -> list[str]:
    return [str(fault) for fault in faults(config, machine, "here", "kube_node_kubelet", site_joins)]


def last(value: Any) -> Any:
    """The last value in the depths of a row."""
    while value and isinstance(value, (dict, list)):
        value = [*(value.values() if isinstance(value, dict) else value)][-1]
    return value


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_refused(case: dict[str, Any]) -> None:
    value, told = last(case["change"]), refused(merged(good(), case["change"]))
    found = [line for line in told if line.startswith(f"here.{case.get('at', next(iter(case['change'])))} is ")]
    assert len(found) == 1, told
    shown, _, rest = found[0].partition(" is ")[2].partition(", but ")
    assert case.get("is", "missing" if value is None else json.dumps(value)) in shown
    assert all(part in whole for part, whole in zip(case["but"].rsplit("; ", 1), rest.rsplit("; ", 1)))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_each_repair_leads_on(case: dict[str, Any]) -> None:
    """Whoever does what a refusal says meets another one, or none."""
    wrong, fix = merged(good(), case["change"]), case["fix"]
    right = merged(wrong, fix if isinstance(fix, dict) else {next(iter(case["change"])): fix})
    before, after = ([line.partition(" is ")[::2] for line in refused(config)] for config in (wrong, right))
    assert [key for key, _said in after] == ([f"here.{case['then']}"] if "then" in case else [])
    reasons = ({(key, said.partition(", but ")[2]) for key, said in told} for told in (before, after))
    assert not set.intersection(*reasons), after


def test_who_makes_a_node_a_member_says_how_it_is_born() -> None:
    """A drop-in's list would replace that of the main configuration."""
    birth = good().pop("registerWithTaints")
    [told] = refused(good(), site_joins=False)
    assert told.startswith("here.registerWithTaints is ")
    assert told.endswith("write it to kube_node_kubelet")
    assert born_open({"registerWithTaints": [*birth, {"key": "own", "effect": "NoSchedule"}]}, "there") == []


@pytest.mark.parametrize("birth", [{}, {"registerWithTaints": None}, {"registerWithTaints": [{"key": "own"}]}])
def test_a_member_is_never_born_open(birth: dict[str, Any]) -> None:
    told = [str(fault) for fault in born_open(birth, "there")]
    assert "born open to all pods; add drawbridge.io/slurm=closed:NoSchedule" in told[0]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"topologyManagerPolicyOptions": {"prefer-closest-numa-nodes": "true"}},
        {"cpuManagerPolicyOptions": {"full-pcpus-only": "true", "strict-cpu-reservation": "true"}},
        {"topologyManagerPolicy": "restricted"},
        {"evictionHard": {"nodefs.available": None, "imagefs.available": None}, "mergeDefaultEvictionSettings": True},
        {"cpuManagerPolicy": "none", "reservedSystemCPUs": None, "systemReserved": {"cpu": "4"}},
        {"memoryManagerPolicy": "None", "reservedMemory": None},
    ],
)
def test_what_the_role_makes_and_other_good_ones_are_accepted(change: dict[str, Any]) -> None:
    assert refused(merged(good(), change)) == []


@pytest.mark.parametrize(
    ("change", "key", "expected"),
    [
        ({"systemReserved": "4Gi"}, "systemReserved", "mapping"),
        ({"cpuManagerPolicyOptions": ["full-pcpus-only"]}, "cpuManagerPolicyOptions", "mapping"),
        ({"reservedMemory": "abc"}, "reservedMemory", "list"),
        ({"reservedMemory": [None]}, "reservedMemory[0]", "mapping"),
        ({"reservedMemory": [{"numaNode": 0, "limits": "12Gi"}]}, "reservedMemory[0].limits", "mapping"),
        ({"registerWithTaints": "drawbridge.io/slurm=closed:NoSchedule"}, "registerWithTaints", "list"),
    ],
)
def test_another_shape_is_refused_as_such(change: dict[str, Any], key: str, expected: str) -> None:
    [told] = refused(merged(good(), change))
    assert told.startswith(f"here.{key} is ")
    assert f"a {expected}" in told
    assert "is expected here" in told


@pytest.mark.parametrize("node", ["0", [0], {"a": 1}, None])
def test_numa_nodes_are_numbers(node: Any) -> None:
    told = refused(merged(good(), {"reservedMemory": [{"numaNode": node, "limits": {"memory": "6Gi"}}] * 2}))
    keys = [line.partition(" is ")[0] for line in told]
    assert keys == ["here.reservedMemory[0].numaNode", "here.reservedMemory[1].numaNode"]


def test_options_are_texts() -> None:
    told = refused(merged(good(), {"cpuManagerPolicyOptions": {"full-pcpus-only": True}}))
    assert told == [
        'here.cpuManagerPolicyOptions.full-pcpus-only is true, but options are strings; write "true", with quotes'
    ]


def test_many_numa_nodes_need_consent() -> None:
    many = replace(MACHINE, numa_nodes=16)
    memory = [{"numaNode": node, "limits": {"memory": "768Mi"}} for node in range(16)]
    config = {**good(), "reservedMemory": memory}
    [told] = refused(config, many)
    assert "on at most 8 NUMA nodes, and there are 16; set none" in told
    assert refused({**config, "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "16"}}, many) == []


ONE_NODE = [{"numaNode": 0, "limits": {"memory": "12288Mi"}}]
MORE = {
    "systemReserved": {"memory": "1000Gi"},
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": f"{1000 * 1024 + 4162}Mi"}}],
}


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"reservedSystemCPUs": "8-15,72-79"}, {"reservedSystemCPUs": "reserved_cpus"}),
        ({"reservedSystemCPUs": "0-127"}, {"reservedSystemCPUs": "reserved_cpus"}),
        ({"reservedMemory": ONE_NODE}, {"reservedMemory": "reserved_memory_mib"}),
        ({"kubeReserved": None}, {"kubeReserved.memory": "reserved_memory_mib"}),
        ({"evictionHard": {"memory.available": "1Gi"}}, {"evictionHard.memory.available": "reserved_memory_mib"}),
        (MORE, {"systemReserved.memory": "reserved_memory_mib", "reservedMemory": "reserved_memory_mib"}),
        # what leaves the shares alone is the site's
        ({}, {}),
        ({"systemReserved": {"pid": "1000", "ephemeral-storage": "10Gi"}}, {}),
        ({"evictionHard": {"nodefs.available": "20%"}}, {}),
        ({"memoryManagerPolicy": "None", "reservedMemory": []}, {}),
        ({"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}, {}),
    ],
)
def test_what_slurm_would_not_know_is_refused(change: dict[str, Any], keys: dict[str, str]) -> None:
    found = [str(fault) for fault in changed_reservations(merged(good(), change), good(), "here")]
    assert [line.partition(" is ")[0] for line in found] == [f"here.{key}" for key in keys]
    for line, key in zip(found, keys.values()):
        assert line.endswith(f"; remove it, and change {key} of the node's class in drawbridge_nodes")
