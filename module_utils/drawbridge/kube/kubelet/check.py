# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of a kubelet's NUMA configuration, found before a kubelet reads it.

Most of them end the kubelet with an error that names another key. The kubelet silently ignores the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...core.cpus import cpu_list, unreadable
from ...core.faults import MISSING, Fault
from ...core.names import CLOSED, EFFECT, TAINT
from ...nodes.numa import MOST_NUMA_NODES, MOST_OPTION, Machine, never_admits
from ..quantity import quantity
from .keys import NUMA, TAINTS, foreign_keys
from .memory_check import amounts, eviction, reserved_memory

Config = Mapping[str, Any]

CHOICES = {
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static"),
}
OPTIONS = {
    "topologyManagerPolicyOptions": (MOST_OPTION, "prefer-closest-numa-nodes"),
    "cpuManagerPolicyOptions": (
        "distribute-cpus-across-numa",
        "full-pcpus-only",
        "prefer-align-cpus-by-uncorecache",
        "strict-cpu-reservation",
    ),
}
"""Options of kubelet 1.36 that need no alpha feature gate."""
NEEDED = {"topologyManagerPolicyOptions": "topologyManagerPolicy", "cpuManagerPolicyOptions": "cpuManagerPolicy"}
WHOLE_CORES = "set reservedSystemCPUs, whole cores of each socket, such as 0-3,64-67"
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MAPPINGS = (*OPTIONS, "evictionHard", "systemReserved", "kubeReserved")
LISTS = (TAINTS, "reservedMemory")
CPUS, MEMORY = "reserved_cpus", "reserved_memory_mib"
OF_THE_CLASS = {
    ("reservedSystemCPUs",): CPUS,
    ("systemReserved", "memory"): MEMORY,
    ("kubeReserved", "memory"): MEMORY,
    ("evictionHard", "memory.available"): MEMORY,
    ("reservedMemory",): MEMORY,
}
"""Key of the kubelet -> key of the node class that it is derived from."""


def faults(config: Config, machine: Machine, where: str, other: str, site_joins: bool = False) -> list[Fault]:
    """All faults. `where` is the variable that holds these keys, `other` the one for the kubelet's other keys."""
    own = NUMA | {TAINTS} if site_joins else NUMA
    found = [*_shapes(config)] or [
        *_choices(config),
        *_options(config),
        *amounts(config),
        *eviction(config),
        *_reserved_cpus(config, machine),
        *reserved_memory(config, machine),
        *_whole_node(config, machine),
        *_taints(config),
    ]
    return [*foreign_keys(config, where, own, other), *(replace(fault, key=f"{where}.{fault.key}") for fault in found)]


def born_open(config: Config, where: str) -> list[Fault]:
    """Faults of the taints that a node registers with; without the gate's taint it is born open."""
    taints = {TAINTS: config.get(TAINTS)}
    return [replace(fault, key=f"{where}.{fault.key}") for fault in [*_shapes(taints)] or [*_taints(taints)]]


def _shapes(config: Config) -> Iterator[Fault]:
    """Keys of a wrong type; no other check is possible then. An empty value counts as no key."""
    for key in MAPPINGS:
        yield from _mapping(key, config.get(key) or {})
    for key in LISTS:
        given = config.get(key) or []
        if not isinstance(given, (list, tuple)):
            yield Fault(key, given, "a list is expected here", f"write {key} as a list, even with one element")
            continue
        for index, entry in enumerate(given):
            yield from _mapping(f"{key}[{index}]", entry)
            if isinstance(entry, Mapping):
                yield from _mapping(f"{key}[{index}].limits", entry.get("limits") or {})


def _mapping(key: str, value: Any) -> Iterator[Fault]:
    if not isinstance(value, Mapping):
        yield Fault(key, value, "a mapping is expected here", f"write {key} as keys and values")


def _choices(config: Config) -> Iterator[Fault]:
    for key, choices in CHOICES.items():
        if key in config and config[key] not in choices:
            reason = "no kubelet has this value, and upper case matters"
            yield Fault(key, config[key], reason, f"write one of {', '.join(choices)}")


def _options(config: Config) -> Iterator[Fault]:
    for key, known in OPTIONS.items():
        given = config.get(key) or {}
        for name, value in given.items():
            if name not in known:
                yield Fault(f"{key}.{name}", value, "there is no such option", f"use one of {', '.join(known)}")
            elif not isinstance(value, str):
                yield Fault(f"{key}.{name}", value, "options are strings", f'write "{str(value).lower()}", with quotes')
        if given and config.get(NEEDED[key], "none") == "none":
            reason = f"with {NEEDED[key]}: none they have no effect"
            yield Fault(key, dict(given), reason, f"remove them, or set another {NEEDED[key]}")


def _reserved_cpus(config: Config, machine: Machine) -> Iterator[Fault]:
    text = config.get("reservedSystemCPUs")
    counted = [(name, (config.get(name) or {}).get("cpu")) for name in ("systemReserved", "kubeReserved")]
    if text is None:
        if config.get("cpuManagerPolicy") == "static" and not sum(
            quantity(cpu) or 0 for _unused, cpu in counted if cpu
        ):
            reason = "the static CPU manager starts only with CPUs that pods never get"
            yield Fault("reservedSystemCPUs", MISSING, reason, WHOLE_CORES)
        return
    for name, cpu in counted:
        if cpu:
            reason = "reservedSystemCPUs is set too, and the kubelet then ignores this amount"
            yield Fault(f"{name}.cpu", cpu, reason, "remove it")
    if why := unreadable(str(text)):
        yield Fault("reservedSystemCPUs", text, why, "write a list such as 0-3,64-67")
        return
    cpus = cpu_list(str(text))
    if max(cpus) >= machine.cpus:
        repair = f"use CPUs from 0 to {machine.cpus - 1}"
        yield Fault("reservedSystemCPUs", text, f"CPU {max(cpus)} does not exist", repair)
    elif missing := machine.missing_threads(cpus):
        reason = f"CPU {missing[0]} is the other thread of a reserved core, and a pod would share that core"
        yield Fault("reservedSystemCPUs", text, reason, f"reserve {', '.join(map(str, missing))} as well")


def _whole_node(config: Config, machine: Machine) -> Iterator[Fault]:
    policy, text = config.get("topologyManagerPolicy", "none"), str(config.get("reservedSystemCPUs", ""))
    reserved = 0 if unreadable(text) else len(cpu_list(text))
    options = config.get("topologyManagerPolicyOptions") or {}
    most = quantity(options.get(MOST_OPTION))
    if reason := never_admits(policy, machine, reserved, MOST_NUMA_NODES if most is None else int(most)):
        repair = "set none" if len(machine.numa_numbers) > MOST_NUMA_NODES else "set best-effort"
        yield Fault("topologyManagerPolicy", policy, reason, repair)


def _taints(config: Config) -> Iterator[Fault]:
    given = config.get(TAINTS) or []
    born = [(taint.get("key"), taint.get("value"), taint.get("effect")) for taint in given]
    if TAINTS in config and (TAINT, CLOSED, EFFECT) not in born:
        reason = "the node would be born open to all pods"
        yield Fault(TAINTS, given, reason, f"add {TAINT}={CLOSED}:{EFFECT}")
    for index, taint in enumerate(given):
        if taint.get("effect") not in EFFECTS:
            key, value = f"{TAINTS}[{index}].effect", taint.get("effect", MISSING)
            yield Fault(key, value, "taints have no such effect", f"use one of {', '.join(EFFECTS)}")


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
