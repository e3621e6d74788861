# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from decimal import Decimal
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.memory_check import (
    reserved_memory,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.numa import Machine
from hypothesis import given
from hypothesis import strategies as st

MACHINE = Machine(128, 2, "together", 2, 1 << 21, (0, 1))


def config(system: str, kube: str, eviction: str, *by_node: str) -> dict[str, Any]:
    entries = [{"numaNode": node, "limits": {"memory": amount}} for node, amount in enumerate(by_node)]
    held = {"systemReserved": {"memory": system}, "kubeReserved": {"memory": kube}, "reservedMemory": entries}
    return {**held, "evictionHard": {"memory.available": eviction}, "memoryManagerPolicy": "Static"}


@given(st.integers(1, 1 << 20), st.integers(1, 1 << 20), st.integers(-1, 1))
def test_only_the_exact_sum_is_accepted(system: int, kube: int, off: int) -> None:
    total = system + kube + 100
    given_ = config(f"{system}Mi", f"{kube}Mi", "100Mi", f"{total - 1 + off}Mi", "1Mi")
    faults = list(reserved_memory(given_, MACHINE))
    assert bool(faults) == bool(off)
    if off:
        assert f"add up to {Decimal(total).normalize():f} MiB" in str(faults[0])


def test_units_may_differ() -> None:
    assert not list(reserved_memory(config("3Gi", "924Mi", "102400Ki", "2Gi", "2048Mi"), MACHINE))


def test_an_entry_with_a_misspelt_key() -> None:
    broken = config("3Gi", "924Mi", "100Mi", "4Gi")
    broken["reservedMemory"] = [{"numaNode": 0, "limit": {"memory": "4Gi"}}]
    assert "reservedMemory[0].limit is " in str(next(reserved_memory(broken, MACHINE)))
