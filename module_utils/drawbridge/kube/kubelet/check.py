# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a kubelet's NUMA configuration, found before any kubelet sees it.

A kubelet dies of most of it, with a sentence that names another key; the rest it swallows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...core.cpus import cpu_list, unreadable
from ...core.faults import MISSING, Fault
from ...core.names import CLOSED, EFFECT, TAINT
from ...nodes.numa import MOST_NUMA_NODES, Machine, never_admits
from ..quantity import quantity
from .keys import BIRTH, NUMA, strangers
from .memory_check import amounts, eviction, reserved_memory

Config = Mapping[str, Any]

CHOICES = {
    "topologyManagerPolicy": ("none", "best-effort", "restricted", "single-numa-node"),
    "topologyManagerScope": ("container", "pod"),
    "cpuManagerPolicy": ("none", "static"),
    "memoryManagerPolicy": ("None", "Static"),
}
OPTIONS = {
    "topologyManagerPolicyOptions": ("max-allowable-numa-nodes", "prefer-closest-numa-nodes"),
    "cpuManagerPolicyOptions": (
        "distribute-cpus-across-numa",
        "full-pcpus-only",
        "prefer-align-cpus-by-uncorecache",
        "strict-cpu-reservation",
    ),
}
"""Those that kubelet 1.36 takes without an alpha feature gate."""
NEEDED = {"topologyManagerPolicyOptions": "topologyManagerPolicy", "cpuManagerPolicyOptions": "cpuManagerPolicy"}
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
MAPPINGS = (*OPTIONS, "evictionHard", "systemReserved", "kubeReserved")
LISTS = (BIRTH, "reservedMemory")


def faults(config: Config, machine: Machine, where: str, other: str, site_joins: bool = False) -> list[Fault]:
    """Everything that is wrong; keys are told as keys of the variable `where`, `other` takes what is not for it."""
    own = NUMA | {BIRTH} if site_joins else NUMA
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
    return [*strangers(config, where, own, other), *(replace(fault, key=f"{where}.{fault.key}") for fault in found)]


def born_open(config: Config, where: str) -> list[Fault]:
    """What is wrong with the taints that a node is registered with; without any it is born open."""
    birth = {BIRTH: config.get(BIRTH)}
    return [replace(fault, key=f"{where}.{fault.key}") for fault in [*_shapes(birth)] or [*_taints(birth)]]


def _shapes(config: Config) -> Iterator[Fault]:
    """What has another shape; nothing else can be said of it then. A key without a value is as good as none."""
    for key in MAPPINGS:
        yield from _mapping(key, config.get(key) or {})
    for key in LISTS:
        given = config.get(key) or []
        if not isinstance(given, (list, tuple)):
            yield Fault(key, given, "a list is expected here", f"write {key} as a list, also when it has one element")
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
            reason = "no kubelet has it, and capitals count"
            yield Fault(key, config[key], reason, f"write one of {', '.join(choices)}")


def _options(config: Config) -> Iterator[Fault]:
    for key, known in OPTIONS.items():
        given = config.get(key) or {}
        for name, value in given.items():
            if name not in known:
                yield Fault(f"{key}.{name}", value, "there is no such option", f"use one of {', '.join(known)}")
            elif not isinstance(value, str):
                yield Fault(f"{key}.{name}", value, "options are texts", f'write "{str(value).lower()}", with quotes')
        if given and config.get(NEEDED[key], "none") == "none":
            reason = f"with {NEEDED[key]}: none nobody looks at them"
            yield Fault(key, dict(given), reason, f"leave them out, or set another {NEEDED[key]}")


def _reserved_cpus(config: Config, machine: Machine) -> Iterator[Fault]:
    text = config.get("reservedSystemCPUs")
    counted = [(name, (config.get(name) or {}).get("cpu")) for name in ("systemReserved", "kubeReserved")]
    if text is None:
        if config.get("cpuManagerPolicy") == "static" and not sum(quantity(cpu) or 0 for _, cpu in counted if cpu):
            reason = "the static CPU manager starts only with CPUs that pods never get"
            yield Fault("reservedSystemCPUs", MISSING, reason, "set reservedSystemCPUs, whole cores of each socket")
        return
    for name, cpu in counted:
        if cpu:
            reason = "reservedSystemCPUs is given too, and the kubelet then forgets this amount"
            yield Fault(f"{name}.cpu", cpu, reason, "leave it out")
    if why := unreadable(str(text)):
        yield Fault("reservedSystemCPUs", text, why, "write one such as 0-3,64-67")
        return
    cpus = cpu_list(str(text))
    if max(cpus) >= machine.cpus:
        reason, last = f"CPU {max(cpus)} does not exist", machine.cpus - 1
        yield Fault("reservedSystemCPUs", text, reason, f"use CPUs from 0 to {last}")
    elif missing := machine.missing_threads(cpus):
        reason = f"CPU {missing[0]} is the other thread of a reserved core, and a pod would share that core"
        yield Fault("reservedSystemCPUs", text, reason, f"reserve {', '.join(map(str, missing))} as well")


def _whole_node(config: Config, machine: Machine) -> Iterator[Fault]:
    policy, text = config.get("topologyManagerPolicy", "none"), str(config.get("reservedSystemCPUs", ""))
    reserved = 0 if unreadable(text) else len(cpu_list(text))
    options = config.get("topologyManagerPolicyOptions") or {}
    most = quantity(options.get("max-allowable-numa-nodes"))
    if reason := never_admits(policy, machine, reserved, MOST_NUMA_NODES if most is None else int(most)):
        repair = "set none" if machine.numa_nodes > MOST_NUMA_NODES else "set best-effort"
        yield Fault("topologyManagerPolicy", policy, reason, repair)


def _taints(config: Config) -> Iterator[Fault]:
    given = config.get(BIRTH) or []
    born = [(taint.get("key"), taint.get("value"), taint.get("effect")) for taint in given]
    if BIRTH in config and (TAINT, CLOSED, EFFECT) not in born:
        reason = "the node would be born open to everybody"
        yield Fault(BIRTH, given, reason, f"add {TAINT}={CLOSED}:{EFFECT}")
    for index, taint in enumerate(given):
        if taint.get("effect") not in EFFECTS:
            key = f"{BIRTH}[{index}].effect"
            yield Fault(
                key, taint.get("effect", MISSING), "taints have no such effect", f"use one of {', '.join(EFFECTS)}"
            )
