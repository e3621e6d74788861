# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a kubelet leaves to daemons, held against what the site's description says: Slurm is told the latter."""

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
"""Keys of the kubelet by the key of a node class that they come from."""


def departures(config: Config, derived: Config, where: str) -> Iterator[Fault]:
    """Reservations of `config` that are not the `derived` ones: jobs would ask for what the kubelet does not give."""
    for path, key in OF_THE_CLASS.items():
        value, right = _at(config, path), _at(derived, path)
        if value == right or _unused(path, value, config):
            continue
        reason = "Slurm and the sizes of jobs' pods go by the node's class, and the kubelet would leave other shares"
        repair = f"take it out, and change {key} of the node's class in drawbridge_nodes"
        yield Fault(f"{where}.{'.'.join(path)}", MISSING if value is None else value, reason, repair)


def _unused(path: tuple[str, ...], value: Any, config: Config) -> bool:
    """Without its manager there is nothing to share out by NUMA node; the sum stands in the other keys."""
    return path == ("reservedMemory",) and not value and config.get("memoryManagerPolicy") == "None"


def _at(config: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        config = config.get(key) if isinstance(config, Mapping) else None
    return config
