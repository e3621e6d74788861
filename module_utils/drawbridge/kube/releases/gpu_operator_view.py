# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: a release of each GPU vendor's chart, with its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.names import EFFECT, INFRA, TAINT
from ...nodes.gpus.vendors import VENDORS
from ...nodes.model import Nodes
from ..model import Kube
from .catalogue import CHARTS, NVIDIA, Chart, Image
from .dcgm import NAME, counters
from .model import GpuOperator
from .rules import AMD_FIXED_VALUES, FIXED_VALUES
from .values import combined

Json = dict[str, Any]
GATE = {"key": TAINT, "operator": "Exists", "effect": EFFECT}
CRITICAL = {"key": "CriticalAddonsOnly", "operator": "Exists"}
AMD_GPUS = {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
GPUS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
LABELS = {INFRA: "true", "pod-security.kubernetes.io/enforce": "privileged"}
"""Of the namespace."""


def gpu_operator(nodes: Nodes, kube: Kube) -> list[Json]:
    """Helm releases of the GPU operator. Each has vendor, name, namespace, chart, version and values."""
    part = kube.gpu_operator
    if not (part.install and nodes.classes):
        return []
    made_by = [name for name, row in VENDORS.items() if row in nodes.gpu_vendors]
    return [
        {
            "vendor": vendor,
            "name": chart.name,
            "namespace": part.namespace,
            "chart": chart.name,
            "version": chart.version,
            "source": chart.source,
            "digest": chart.digest,
            "values": VALUES[vendor](part),
        }
        for vendor, chart in CHARTS.items()
        if vendor in made_by
    ]


def nvidia_values(part: GpuOperator) -> Json:
    """Values of NVIDIA's chart: Drawbridge's, then the site's."""
    values: Json = {
        "nfd": {"enabled": True},
        "cdi": {"enabled": True},
        "toolkit": {"enabled": True},
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": True},
        "mig": {"strategy": part.mig_strategy},
        "dcgm": {"enabled": False},
        "dcgmExporter": {
            "enabled": True,
            "hpcJobMapping": {"enabled": True},
            "serviceMonitor": {"enabled": part.service_monitor},
        },
        # two charts; each list replaces the chart's own, which does not tolerate the gate's taint
        "daemonsets": {"tolerations": [GPUS, GATE]},
        "node-feature-discovery": {"worker": {"tolerations": [CONTROL_PLANE, GPUS, GATE]}},
    }
    if part.counters == "training":
        values["dcgmExporter"]["config"] = {"name": NAME, "create": True, "data": counters()}
    for path, (fixed, _unused) in FIXED_VALUES.items():
        values = combined(values, _nested(path, fixed))
    return combined(values, part.values)


def amd_values(part: GpuOperator) -> Json:
    """Values of the chart of AMD's device plugin: Drawbridge's, then the site's.

    It is the plugin alone. AMD's operator brings what drains, taints and reboots nodes.
    """
    values: Json = {"tolerations": [CRITICAL, AMD_GPUS, GATE]}
    for path, (fixed, _unused) in AMD_FIXED_VALUES.items():
        values = combined(values, _nested(path, fixed))
    return combined(values, part.amd_values)


VALUES = {"nvidia": nvidia_values, "amd": amd_values}


def images(values: Mapping[str, Any], chart: Chart = NVIDIA) -> list[Image]:
    """The images that the chart runs with these values."""
    return [image for image in chart.images if not image.switch or _at(values, image.switch)]


def _nested(path: str, value: Any) -> Json:
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def _at(values: Any, path: str) -> bool:
    for key in path.split("."):
        values = values.get(key, {}) if isinstance(values, Mapping) else {}
    return values is True
