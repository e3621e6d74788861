# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.keys import (
    KEYS,
    NUMA,
    foreign_keys,
)


def test_numa_keys_are_keys_of_the_kubelet() -> None:
    assert NUMA < KEYS
    assert len(KEYS) == 125


def test_a_key_that_resembles_none_is_refused_with_all_others() -> None:
    assert "use one of cpuManagerPolicy, " in str(next(foreign_keys({"zzz": 1}, "mine", NUMA, "other")))
