# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a kubelet's reserved memory, and of the amounts that it must equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from ...core.cpus import cpu_ranges
from ...core.faults import MISSING, Fault
from ...nodes.numa import Machine
from ..quantity import mebibytes, quantity

Config = Mapping[str, Any]

RESERVABLE = ("cpu", "ephemeral-storage", "memory", "pid")
SIGNALS = (
    "allocatableMemory.available",
    "containerfs.available",
    "containerfs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "pid.available",
)
DISK_SIGNALS = ("imagefs.available", "imagefs.inodesFree", "nodefs.available", "nodefs.inodesFree")
DEFAULT_EVICTION = "100Mi"
HELD_BACK = "systemReserved, kubeReserved and evictionHard"


def amounts(config: Config) -> Iterator[Fault]:
    """systemReserved and kubeReserved: resources that can be reserved, with valid amounts."""
    for name in ("systemReserved", "kubeReserved"):
        for resource, text in (config.get(name) or {}).items():
            key = f"{name}.{resource}"
            if resource not in RESERVABLE:
                reason = "kubelets can't reserve this resource"
                yield Fault(key, text, reason, f"use one of {', '.join(RESERVABLE)}")
            else:
                yield from _amount(key, text)


def eviction(config: Config) -> Iterator[Fault]:
    """Known signals, valid thresholds, and none of the kubelet's defaults lost by accident."""
    given = config.get("evictionHard")
    for signal, text in (given or {}).items():
        key = f"evictionHard.{signal}"
        if signal not in SIGNALS:
            yield Fault(key, text, "there is no such signal", f"use one of {', '.join(SIGNALS)}")
        elif not str(text).endswith("%"):
            yield from _amount(key, text)
        elif signal == "memory.available":
            reason = "a percentage depends on the machine, and reserved memory must add up exactly"
            yield Fault(key, text, reason, f"write an amount such as {DEFAULT_EVICTION}")
        else:
            share = quantity(str(text)[:-1])
            if share is None or not 0 <= share <= 100:
                yield Fault(key, text, "it is not a percentage", "write 0% to 100%")
    lost = [signal for signal in DISK_SIGNALS if signal not in (given or {})]
    if given is not None and lost and not config.get("mergeDefaultEvictionSettings"):
        reason = f"with any signal set, a kubelet drops its default signals, here {', '.join(lost)}"
        yield Fault("evictionHard", dict(given), reason, f"set {', '.join(lost)} as well (0% turns one off)")


def reserved_memory(config: Config, machine: Machine) -> Iterator[Fault]:
    """Each existing NUMA node at most once, memory only, and the sum that the kubelet requires."""
    given = config.get("reservedMemory") or []
    if config.get("memoryManagerPolicy") != "Static":
        if given:
            reason = "it has no effect without the Static memory manager"
            yield Fault("reservedMemory", given, reason, "set memoryManagerPolicy: Static, or remove it")
        return
    faults = [fault for index, entry in enumerate(given) for fault in _entry(index, entry, machine)]
    nodes = [entry["numaNode"] for entry in given if isinstance(entry.get("numaNode"), int)]
    if twice := sorted({node for node in nodes if nodes.count(node) > 1}):
        reason = "each NUMA node may have one entry"
        faults.append(Fault("reservedMemory", given, reason, f"keep one entry with numaNode: {twice[0]}"))
    yield from faults
    if not faults:
        yield from _sum(config, given)


def held_back_mib(config: Config) -> Decimal | None:
    """MiB of memory that pods never get; None if an amount can't be read."""
    parts = [(config.get(name) or {}).get("memory", "0") for name in ("systemReserved", "kubeReserved")]
    parts.append((config.get("evictionHard") or {}).get("memory.available", DEFAULT_EVICTION))
    found = [mebibytes(part) for part in parts]
    return sum((part for part in found if part is not None), Decimal(0)) if None not in found else None


def _entry(index: int, entry: Config, machine: Machine) -> Iterator[Fault]:
    key, node = f"reservedMemory[{index}]", entry.get("numaNode")
    if unknown := sorted(set(entry) - {"numaNode", "limits"}):
        reason = "the kubelet ignores unknown keys"
        yield Fault(f"{key}.{unknown[0]}", entry[unknown[0]], reason, "use numaNode and limits")
    if node not in machine.with_memory:
        value, repair = MISSING if node is None else node, f"use one of {cpu_ranges(machine.with_memory)}"
        yield Fault(f"{key}.numaNode", value, "there is no such NUMA node with memory", repair)
    for resource, text in (entry.get("limits") or {}).items():
        limit = f"{key}.limits.{resource}"
        if resource.startswith("hugepages-"):
            reason = "kubelets have no other key that reserves huge pages, so the sums would differ"
            yield Fault(limit, text, reason, "remove it: huge pages are not part of pods' memory")
        elif resource != "memory":
            yield Fault(limit, text, "only memory is reserved by NUMA node", "write memory")
        elif quantity(text) == 0:
            yield Fault(limit, text, "an amount of 0 can't be reserved", "remove the NUMA node's entry")
        else:
            yield from _amount(limit, text)


def _sum(config: Config, given: list[Config]) -> Iterator[Fault]:
    held = held_back_mib(config)
    by_node = [mebibytes((entry.get("limits") or {}).get("memory", "0")) for entry in given]
    total = sum((part for part in by_node if part is not None), Decimal(0))
    if held is not None and total != held:
        reason = f"{HELD_BACK} add up to {_plain(held)} MiB, and a kubelet starts only if both sums are equal"
        yield Fault("reservedMemory", f"{_plain(total)} MiB in all", reason, f"reserve {_plain(held)} MiB in all")


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _amount(key: str, text: Any) -> Iterator[Fault]:
    found = quantity(text)
    if found is None:
        yield Fault(key, text, "Kubernetes can't parse this amount", "write a number with Ki, Mi or Gi, such as 4Gi")
    elif found < 0:
        yield Fault(key, text, "a negative amount can't be reserved", "write an amount such as 4Gi")
