# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A kubelet's reservations must equal those of the intent, because Slurm uses the intent's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.faults import MISSING, Fault

Config = Mapping[str, Any]

CPUS, MEMORY = "reserved_cpus", "reserved_memory_mib"
OF_THE_CLASS = {
    ("reservedSystemCPUs",): CPUS,
    ("systemReserved", "memory"): MEMORY,
    ("kubeReserved", "memory"): MEMORY,
    ("evictionHard", "memory.available"): MEMORY,
    ("reservedMemory",): MEMORY,
}
"""Key of the kubelet -> key of the node class that it is derived from."""


def changed_reservations(config: Config, derived: Config, where: str) -> Iterator[Fault]:
    """Reservations of `config` that differ from the `derived` ones: jobs would request more than the kubelet gives."""
    for path, key in OF_THE_CLASS.items():
        value, right = _at(config, path), _at(derived, path)
        if value == right or _unused(path, value, config):
            continue
        reason = "Slurm and jobs' pods use the reservations of the node's class, and the kubelet would use others"
        repair = f"remove it, and change {key} of the node's class in drawbridge_nodes"
        yield Fault(f"{where}.{'.'.join(path)}", MISSING if value is None else value, reason, repair)


def _unused(path: tuple[str, ...], value: Any, config: Config) -> bool:
    """Without the memory manager, reservations by NUMA node have no effect; other keys hold the sum."""
    return path == ("reservedMemory",) and not value and config.get("memoryManagerPolicy") == "None"


def _at(config: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        config = config.get(key) if isinstance(config, Mapping) else None
    return config
