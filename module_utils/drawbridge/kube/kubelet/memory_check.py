# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a kubelet's reserved memory, and with the amounts that it has to equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

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
    """systemReserved and kubeReserved: resources that can be reserved, and amounts of them."""
    for name in ("systemReserved", "kubeReserved"):
        for resource, text in (config.get(name) or {}).items():
            key = f"{name}.{resource}"
            if resource not in RESERVABLE:
                reason = "kubelets reserve no such resource"
                yield Fault(key, text, reason, f"use one of {', '.join(RESERVABLE)}")
            else:
                yield from _amount(key, text)


def eviction(config: Config) -> Iterator[Fault]:
    """Signals that exist, thresholds that can be read, and none of the kubelet's own lost by accident."""
    given = config.get("evictionHard")
    for signal, text in (given or {}).items():
        key = f"evictionHard.{signal}"
        if signal not in SIGNALS:
            yield Fault(key, text, "there is no such signal", f"use one of {', '.join(SIGNALS)}")
        elif not str(text).endswith("%"):
            yield from _amount(key, text)
        elif signal == "memory.available":
            reason = "a percentage makes the reserved memory depend on the machine, and it has to add up exactly"
            yield Fault(key, text, reason, f"write an amount such as {DEFAULT_EVICTION}")
        else:
            share = quantity(str(text)[:-1])
            if share is None or not 0 <= share <= 100:
                yield Fault(key, text, "it is no percentage", "write 0% to 100%")
    lost = [signal for signal in DISK_SIGNALS if signal not in (given or {})]
    if given is not None and lost and not config.get("mergeDefaultEvictionSettings"):
        reason = f"a kubelet that is given any signal forgets its own defaults, here {', '.join(lost)}"
        yield Fault("evictionHard", dict(given), reason, f"give {lost[0]} as well, or 0% to do without")


def reserved_memory(config: Config, machine: Machine) -> Iterator[Fault]:
    """Entries for NUMA nodes that exist, each once, of memory alone, and a sum that the kubelet starts with."""
    given = config.get("reservedMemory") or []
    if config.get("memoryManagerPolicy") != "Static":
        if given:
            reason = "without the Static memory manager nobody looks at it"
            yield Fault("reservedMemory", given, reason, "set memoryManagerPolicy: Static, or leave it out")
        return
    faults = [fault for index, entry in enumerate(given) for fault in _entry(index, entry, machine)]
    nodes = [entry["numaNode"] for entry in given if isinstance(entry.get("numaNode"), int)]
    if twice := sorted({node for node in nodes if nodes.count(node) > 1}):
        reason = "a NUMA node may stand there once"
        faults.append(Fault("reservedMemory", given, reason, f"leave one entry with numaNode: {twice[0]}"))
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
        reason = "the kubelet ignores keys that it does not know"
        yield Fault(f"{key}.{unknown[0]}", entry[unknown[0]], reason, "use numaNode and limits")
    if not isinstance(node, int) or not 0 <= node < machine.numa_nodes:
        last = machine.numa_nodes - 1
        yield Fault(
            f"{key}.numaNode", MISSING if node is None else node, "there is no such NUMA node", f"use 0 to {last}"
        )
    for resource, text in (entry.get("limits") or {}).items():
        if resource.startswith("hugepages-"):
            reason = "kubelets have no other key that reserves huge pages, so the sums would differ"
            yield Fault(
                f"{key}.limits.{resource}", text, reason, "leave it out: huge pages are no part of pods' memory"
            )
        elif resource != "memory":
            yield Fault(f"{key}.limits.{resource}", text, "NUMA nodes hold memory alone", "write memory")
        elif quantity(text) == 0:
            yield Fault(f"{key}.limits.{resource}", text, "nothing can't be reserved", "leave the NUMA node out")
        else:
            yield from _amount(f"{key}.limits.{resource}", text)


def _sum(config: Config, given: list[Config]) -> Iterator[Fault]:
    held = held_back_mib(config)
    by_node = [mebibytes((entry.get("limits") or {}).get("memory", "0")) for entry in given]
    total = sum((part for part in by_node if part is not None), Decimal(0))
    if held is not None and total != held:
        reason = f"{HELD_BACK} hold back {_plain(held)} MiB, and a kubelet starts only if both are the same"
        yield Fault("reservedMemory", f"{_plain(total)} MiB in all", reason, f"reserve {_plain(held)} MiB in all")


def _plain(number: Decimal) -> str:
    return f"{number.normalize():f}"


def _amount(key: str, text: Any) -> Iterator[Fault]:
    found = quantity(text)
    if found is None:
        yield Fault(key, text, "Kubernetes reads no such amount", "write a number with Ki, Mi or Gi, such as 4Gi")
    elif found < 0:
        yield Fault(key, text, "less than nothing can't be held back", "write an amount such as 4Gi")
