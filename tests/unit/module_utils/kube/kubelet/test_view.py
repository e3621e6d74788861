# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.check import faults
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.memory_check import (
    DISK_SIGNALS,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.view import kubelet
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.numa import Machine
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.module_utils.lab import KUBE, NODES, SITE, kube
from tests.unit.module_utils.machines import ALL, DESCRIBED, intent


def mib(quantity: str) -> int:
    assert quantity.endswith("Mi")
    return int(quantity[:-2])


def built(**change: Any) -> dict[str, Any]:
    raw: dict[str, Any] = dict(SITE["drawbridge_nodes"])
    return kubelet(part("nodes", {**raw, "classes": {"h100": {**raw["classes"]["h100"], **change}}}), KUBE, "gpu01")


def test_a_class_may_have_a_policy_of_its_own() -> None:
    assert built(topology_policy="restricted")["config"]["topologyManagerPolicy"] == "restricted"


def test_huge_pages_are_reserved_by_themselves() -> None:
    config = built(hugepages_mib=4096)["config"]
    assert sum(mib(entry["limits"]["memory"]) for entry in config["reservedMemory"]) == 12288 - 4096


def test_who_starts_the_kubelet_goes_along() -> None:
    assert built()["options"]["join"] == "drawbridge"
    view = kubelet(NODES, kube(join="site", packages=[]), "gpu01")
    assert view["options"]["join"] == "site"
    closed = {"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}
    assert view["config"]["registerWithTaints"] == [closed]


@pytest.mark.parametrize("name", DESCRIBED)
def test_a_machines_kubelet_starts_and_reserves_where_daemons_run(name: str) -> None:
    machine, nodes = ALL[name], intent(ALL[name]).nodes
    policy = "none" if machine.kubelet.startswith("on at most") else "best-effort"
    view = kubelet(nodes, kube(topology_policy=policy), "n1")
    config = view["config"]
    assert [entry["numaNode"] for entry in config["reservedMemory"]] == list(machine.reserves_on)
    assert sum(mib(entry["limits"]["memory"]) for entry in config["reservedMemory"]) == 8192
    most = {} if policy == "none" or not machine.kubelet else {"max-allowable-numa-nodes": machine.kubelet}
    assert config.get("topologyManagerPolicyOptions", {}) == most
    disks = {signal: "5%" for signal in DISK_SIGNALS}
    whole = {**config, "evictionHard": {**config["evictionHard"], **disks}}
    assert faults(whole, Machine.of(nodes.class_of("n1")), "settings", "other", site_joins=True) == []


@given(reserved=st.integers(1024, 1 << 20), numa_nodes=st.integers(1, 64))
def test_reservations_always_add_up(reserved: int, numa_nodes: int) -> None:
    config = built(reserved_memory_mib=reserved, numa_nodes=numa_nodes)["config"]
    held = [config[key]["memory"] for key in ("systemReserved", "kubeReserved")]
    held.append(config["evictionHard"]["memory.available"])
    by_numa = [entry["limits"]["memory"] for entry in config["reservedMemory"]]
    assert sum(map(mib, held)) == sum(map(mib, by_numa)) == reserved
    assert all(mib(amount) > 0 for amount in [*held, *by_numa])
