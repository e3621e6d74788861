# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the intent: the release of NVIDIA's chart with its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.names import EFFECT, INFRA, TAINT
from ...nodes.model import Nodes
from ..model import Kube
from .catalogue import NVIDIA, Image
from .dcgm import NAME, counters
from .model import GpuOperator
from .rules import FIXED_VALUES
from .values import combined

Json = dict[str, Any]
GATE = {"key": TAINT, "operator": "Exists", "effect": EFFECT}
GPUS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
LABELS = {INFRA: "true", "pod-security.kubernetes.io/enforce": "privileged"}
"""Of the namespace."""


def gpu_operator(nodes: Nodes, kube: Kube) -> list[Json]:
    """Helm releases of the GPU operator. Each has vendor, name, namespace, chart, version and values."""
    part = kube.gpu_operator
    if not (part.install and nodes.classes):
        return []
    return [
        {
            "vendor": "nvidia",
            "name": "gpu-operator",
            "namespace": part.namespace,
            "chart": NVIDIA.name,
            "version": NVIDIA.version,
            "source": NVIDIA.source,
            "digest": NVIDIA.digest,
            "values": nvidia_values(part),
        }
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


def images(values: Mapping[str, Any]) -> list[Image]:
    """The images that the chart runs with these values."""
    return [image for image in NVIDIA.images if not image.switch or _at(values, image.switch)]


def _nested(path: str, value: Any) -> Json:
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def _at(values: Any, path: str) -> bool:
    for key in path.split("."):
        values = values.get(key, {}) if isinstance(values, Mapping) else {}
    return values is True
