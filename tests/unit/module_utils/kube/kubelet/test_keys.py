# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.keys import (
    KEYS,
    NUMA,
    foreign_keys,
)


def test_ours_are_the_kubelets() -> None:
    assert NUMA < KEYS
    assert len(KEYS) == 125


def test_three_kinds_of_foreign_keys() -> None:
    config = {"cpuManagerPolicy": "static", "cpuManagerPolicies": "static", "maxPods": 9, "zzz": 1}
    told = [str(fault) for fault in foreign_keys(config, "mine", NUMA, "other")]
    assert told[0].endswith("ignores unknown keys; write cpuManagerPolicy")
    assert told[1] == "mine.maxPods is 9, but this key of the kubelet does not belong to mine; write it to other"
    assert "use one of cpuManagerPolicy, " in told[2]
    assert len(told) == 3
