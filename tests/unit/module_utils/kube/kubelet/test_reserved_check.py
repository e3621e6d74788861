# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.reserved_check import (
    changed_reservations,
)

from tests.unit.module_utils.kube.kubelet.test_check import good, merged

ONE_NODE = [{"numaNode": 0, "limits": {"memory": "12288Mi"}}]
MORE = {
    "systemReserved": {"memory": "1000Gi"},
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": f"{1000 * 1024 + 4162}Mi"}}],
}


def told(change: dict[str, Any]) -> list[str]:
    return [str(fault) for fault in changed_reservations(merged(good(), change), good(), "here")]


@pytest.mark.parametrize(
    ("change", "keys"),
    [
        ({"reservedSystemCPUs": "8-15,72-79"}, {"reservedSystemCPUs": "reserved_cpus"}),
        ({"reservedSystemCPUs": "0-127"}, {"reservedSystemCPUs": "reserved_cpus"}),
        ({"reservedMemory": ONE_NODE}, {"reservedMemory": "reserved_memory_mib"}),
        ({"kubeReserved": None}, {"kubeReserved.memory": "reserved_memory_mib"}),
        ({"evictionHard": {"memory.available": "1Gi"}}, {"evictionHard.memory.available": "reserved_memory_mib"}),
        (MORE, {"systemReserved.memory": "reserved_memory_mib", "reservedMemory": "reserved_memory_mib"}),
    ],
)
def test_what_slurm_would_not_know_is_refused(change: dict[str, Any], keys: dict[str, str]) -> None:
    found = told(change)
    assert [line.partition(" is ")[0] for line in found] == [f"here.{key}" for key in keys]
    for line, key in zip(found, keys.values()):
        assert line.endswith(f"; remove it, and change {key} of the node's class in drawbridge_nodes")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"systemReserved": {"pid": "1000", "ephemeral-storage": "10Gi"}},
        {"evictionHard": {"nodefs.available": "20%"}},
        {"memoryManagerPolicy": "None", "reservedMemory": []},
        {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}},
    ],
)
def test_what_leaves_the_shares_alone_is_the_sites(change: dict[str, Any]) -> None:
    assert told(change) == []
