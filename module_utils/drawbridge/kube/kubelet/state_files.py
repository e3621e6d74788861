# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State files of the kubelet's CPU and memory manager (kubelet 1.36): which of them a new configuration contradicts.

A kubelet exits if they hold another policy or other reservations than its configuration. The other files must stay:
they hold the CPUs and memory of running pods.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...core.cpus import cpu_list
from ..quantity import mebibytes

CPU, MEMORY = "cpu_manager_state", "memory_manager_state"
MIB = 1 << 20


def outdated(texts: Mapping[str, str], config: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the files in `texts` that a kubelet with this configuration refuses."""
    checks = {CPU: _cpu, MEMORY: _memory}
    return tuple(name for name in sorted(texts) if _refused(checks[name], texts[name], config))


def _refused(check: Any, text: str, config: Mapping[str, Any]) -> bool:
    """A file that can't be parsed here, the kubelet can't parse either."""
    try:
        return check(json.loads(text), config)
    except (ValueError, KeyError, TypeError, AttributeError):
        return True


def _cpu(state: dict[str, Any], config: Mapping[str, Any]) -> bool:
    policy = config.get("cpuManagerPolicy", "none")
    if state["policyName"] != policy:
        return True
    if policy == "none" or not state["defaultCpuSet"]:
        return False
    reserved = set(cpu_list(str(config["reservedSystemCPUs"]))) if "reservedSystemCPUs" in config else set()
    shared = set(cpu_list(state["defaultCpuSet"]))
    strict = (config.get("cpuManagerPolicyOptions") or {}).get("strict-cpu-reservation") == "true"
    return bool(reserved & shared) if strict else not reserved <= shared


def _memory(state: dict[str, Any], config: Mapping[str, Any]) -> bool:
    if state["policyName"] != config.get("memoryManagerPolicy", "None"):
        return True
    if state["policyName"] == "None":
        return False
    held = {
        node: table["memoryMap"]["memory"]["systemReserved"] for node, table in (state["machineState"] or {}).items()
    }
    wanted = {str(entry["numaNode"]): entry["limits"].get("memory", "0") for entry in config.get("reservedMemory", ())}
    return any(amount != int(MIB * (mebibytes(wanted.get(node, "0")) or 0)) for node, amount in held.items())
