# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Kubernetes objects -> conflicting operators, and DaemonSets that do not tolerate the gate's taint.

A conflicting operator cordons, drains, taints, reboots or upgrades nodes under running Slurm jobs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...core.names import TAINT

Json = Mapping[str, Any]


class Actor(NamedTuple):
    """A conflicting operator, binding or role; `name` is its name in `accepted`."""

    name: str
    where: str
    does: str
    repair: str

    @property
    def sentence(self) -> str:
        """The conflict and its repair."""
        return f"{self.where} {self.does}; {self.repair}"


KEEP_OFF = "keep it off the gated nodes or remove it"
WORKLOADS = {
    "kured": ("drains and reboots nodes under running jobs", f"{KEEP_OFF}, and reboot by scontrol reboot"),
    "draino": ("drains nodes by their conditions, under running jobs", KEEP_OFF),
    "cluster-autoscaler": ("removes nodes that have few pods, as closed ones do", KEEP_OFF),
    "karpenter": ("removes nodes that have few pods, as closed ones do", KEEP_OFF),
    "system-upgrade-controller": ("cordons, drains and upgrades nodes under running jobs", KEEP_OFF),
    "slurm-bridge": ("gives nodes to pods on its own", "run it on partitions of its own"),
}
"""Part of a workload's name -> what it does, repair."""


class Setting(NamedTuple):
    """A custom resource's setting that conflicts with the gate."""

    name: str
    kind: str
    path: tuple[str, ...]
    fights: bool
    default: bool
    unless: tuple[str, ...]
    """A switch that, when false, makes the setting harmless."""
    does: str
    repair: str


AMD_PARTS = (
    ("driver", "driver", "installs GPU drivers over the host's, and reboots nodes"),
    ("config-manager", "configManager", "stops services of nodes and changes partitions of GPUs under running jobs"),
    ("remediation", "remediationWorkflow", "taints, drains and reboots nodes under running jobs"),
    ("test-runner", "testRunner", "runs tests on GPUs that Slurm's jobs have"),
    ("dra-driver", "draDriver", "gives GPUs to pods beside the device plugin, so a job's pod may find none"),
)
"""Parts of AMD's operator, by their names in `accepted`: key of its DeviceConfig, and what it does."""
SETTINGS = (
    Setting(
        "gpu-operator",
        "ClusterPolicy",
        ("driver", "upgradePolicy", "autoUpgrade"),
        True,
        True,
        ("driver", "enabled"),
        "upgrades GPU drivers under running jobs",
        "set driver.enabled: false, or driver.upgradePolicy.autoUpgrade: false",
    ),
    Setting(
        "network-operator",
        "NicClusterPolicy",
        ("ofedDriver", "upgradePolicy", "autoUpgrade"),
        True,
        False,
        (),
        "upgrades NIC drivers under running jobs",
        "set ofedDriver.upgradePolicy.autoUpgrade: false",
    ),
    Setting(
        "sriov-network-operator",
        "SriovOperatorConfig",
        ("disableDrain",),
        False,
        False,
        (),
        "drains nodes to configure their NICs, and uncordons them",
        "set disableDrain: true",
    ),
    Setting(
        "amd-gpu-operator",
        "DeviceConfig",
        ("driver", "upgradePolicy", "enable"),
        True,
        False,
        (),
        "upgrades GPU drivers under running jobs",
        "set driver.upgradePolicy.enable: false",
    ),
    *(
        Setting(f"amd-{name}", "DeviceConfig", (part, "enable"), True, False, (), does, f"set {part}.enable: false")
        for name, part, does in AMD_PARTS
    ),
)


def workload_actors(workloads: Iterable[Json]) -> list[Actor]:
    """Known operators among Deployments and DaemonSets, by their names."""
    found = []
    for it in workloads:
        metadata = it["metadata"]
        where = f"{it['kind']} {metadata['namespace']}/{metadata['name']}"
        for word, (does, repair) in WORKLOADS.items():
            if word in metadata["name"]:
                found.append(Actor(word, where, does, repair))
    return found


def setting_actors(resources: Iterable[Json]) -> list[Actor]:
    """Operators whose settings let them take nodes."""
    found = []
    for it in resources:
        spec = it.get("spec") or {}
        for setting in SETTINGS:
            on = not setting.unless or _at(spec, setting.unless, True)
            if it["kind"] == setting.kind and on and _at(spec, setting.path, setting.default) == setting.fights:
                where = f"{it['kind']} {it['metadata']['name']}"
                found.append(Actor(setting.name, where, setting.does, setting.repair))
    return found


def node_actors(nodes: Iterable[Json]) -> list[Actor]:
    """What gated nodes show of others: another scheduler's taint, shared GPUs, GPUs of virtual machines."""
    found = []
    listed = list(nodes)
    for shows, actor in NODES:
        if marked := [it["metadata"]["name"] for it in listed if shows(it)]:
            where = f"{actor.where} on {marked[0]}" + (f" and {len(marked) - 1} more" if marked[1:] else "")
            found.append(actor._replace(where=where))
    return found


def _has_slinkys_taint(node: Json) -> bool:
    return any(taint["key"] == SLINKY for taint in (node.get("spec") or {}).get("taints") or [])


def _shares_gpus(node: Json) -> bool:
    """Time slicing and MPS: the device plugin offers each GPU or instance several times, also under another name."""
    labels = (node["metadata"].get("labels") or {}).items()
    replicas = [value for key, value in labels if GPU.match(key) and key.endswith(REPLICAS)]
    resources = (node.get("status") or {}).get("allocatable") or {}
    return any(value.isdecimal() and int(value) > 1 for value in replicas) or any(
        GPU.match(name) and name.endswith(SHARED) for name in resources
    )


def _runs_machines(node: Json) -> bool:
    return (node["metadata"].get("labels") or {}).get(WORKLOAD, CONTAINER) != CONTAINER


SLINKY = "slinky.slurm.net/managed-node"
GPU, REPLICAS, SHARED = re.compile(r"[a-z]+\.com/(gpu|mig-)"), ".replicas", ".shared"
"""Names of GPUs and of their instances (MIG), and what sharing appends to them."""
WORKLOAD, CONTAINER = "nvidia.com/gpu.workload.config", "container"
"""What the GPU Operator with sandboxWorkloads.enabled does with a node's GPUs, and its harmless value."""
NODES: Sequence[tuple[Callable[[Json], bool], Actor]] = (
    (
        _has_slinkys_taint,
        Actor(
            "slurm-bridge",
            f"the taint {SLINKY}",
            "shows that slurm-bridge gives the node to pods",
            "run it on other nodes",
        ),
    ),
    (
        _shares_gpus,
        Actor(
            "gpu-sharing",
            "the device plugin",
            "offers each GPU several times, so a job's pod may get fewer GPUs than it requests",
            "remove sharing (time slicing, MPS) from its configuration for gated nodes",
        ),
    ),
    (
        _runs_machines,
        Actor(
            "gpu-machines",
            f"the label {WORKLOAD}",
            "gives GPUs to virtual machines, so a job's pod finds none",
            f"remove the label, or set it to {CONTAINER}",
        ),
    ),
)


def intolerant(daemons: Iterable[Json], infra: Iterable[str]) -> list[str]:
    """DaemonSets of infrastructure that get no pod on gated nodes, as sentences."""
    spaces = set(infra)
    return [
        f"DaemonSet {it['metadata']['namespace']}/{it['metadata']['name']} does not tolerate {TAINT} and gets no new "
        f"pod on gated nodes; add the toleration {{key: {TAINT}, operator: Exists}} if it belongs there"
        for it in daemons
        if it["metadata"]["namespace"] in spaces and not _tolerates(it["spec"]["template"]["spec"])
    ]


def _tolerates(pod: Json) -> bool:
    return any(
        toleration.get("operator") == "Exists"
        and toleration.get("key", TAINT) in (TAINT, "")
        and toleration.get("effect", "NoSchedule") in ("NoSchedule", "")
        for toleration in pod.get("tolerations") or []
    )


def _at(value: Any, path: tuple[str, ...], default: bool) -> bool:
    for key in path:
        if not isinstance(value, Mapping) or key not in value:
            return default
        value = value[key]
    return bool(value)
