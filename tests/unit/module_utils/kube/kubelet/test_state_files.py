# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.state_files import (
    CPU,
    MEMORY,
    outdated,
)

# kubelet 1.36.3
STATIC = {"policyName": "static", "defaultCpuSet": "0-127", "checksum": 2744612846}
NONE = {"policyName": "none", "defaultCpuSet": "", "checksum": 1353318690}
TABLE = {"total": 1082331758592, "systemReserved": 6442450944, "allocatable": 1, "reserved": 0, "free": 1}
NODE = {"numberOfAssignments": 0, "memoryMap": {"hugepages-1Gi": {}, "memory": TABLE}, "cells": [0]}
HELD = {"policyName": "Static", "machineState": {"0": NODE, "1": NODE}, "checksum": 1}
CONFIG: dict[str, Any] = {
    "cpuManagerPolicy": "static",
    "reservedSystemCPUs": "0-3,64-67",
    "memoryManagerPolicy": "Static",
    "reservedMemory": [{"numaNode": node, "limits": {"memory": "6144Mi"}} for node in (0, 1)],
}
MORE = [{"numaNode": 0, "limits": {"memory": "8Gi"}}, {"numaNode": 1, "limits": {"memory": "4Gi"}}]


@pytest.mark.parametrize(
    ("cpu", "memory", "change", "names"),
    [
        (STATIC, HELD, {}, ()),
        (NONE, HELD, {}, (CPU,)),
        (STATIC, HELD, {"cpuManagerPolicy": "none"}, (CPU,)),
        (NONE, {"policyName": "None", "machineState": None}, {"cpuManagerPolicy": "none"}, (MEMORY,)),
        (STATIC, HELD, {"memoryManagerPolicy": "None"}, (MEMORY,)),
        (STATIC, HELD, {"reservedMemory": MORE}, (MEMORY,)),
        # the topology manager keeps no state
        (STATIC, HELD, {"topologyManagerPolicy": "restricted"}, ()),
        # CPUs that a pod had, and are now reserved
        ({**STATIC, "defaultCpuSet": "0-3,64-127"}, HELD, {}, ()),
        ({**STATIC, "defaultCpuSet": "4-127"}, HELD, {}, (CPU,)),
        (STATIC, HELD, {"cpuManagerPolicyOptions": {"strict-cpu-reservation": "true"}}, (CPU,)),
        ({"policyName": "none"}, HELD, {"cpuManagerPolicy": "none"}, ()),
        ("broken", "broken", {}, (CPU, MEMORY)),
    ],
)
def test_files_that_the_kubelet_would_refuse(cpu: Any, memory: Any, change: dict[str, Any], names: tuple[str]) -> None:
    assert outdated({CPU: json.dumps(cpu), MEMORY: json.dumps(memory)}, {**CONFIG, **change}) == names


def test_a_missing_state_file_is_not_outdated() -> None:
    assert outdated({}, CONFIG) == ()
    assert outdated({CPU: "not JSON"}, CONFIG) == (CPU,)
