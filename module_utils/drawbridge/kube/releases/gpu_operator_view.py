# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The intent as the GPU vendors' charts need it: one release a vendor that has nodes, with the values of its chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...core.names import EFFECT, INFRA, TAINT
from ...nodes.model import Nodes
from ..model import Kube
from .catalogue import CHARTS, Image
from .model import GpuOperator
from .rules import OURS
from .values import combined

Json = dict[str, Any]
GATE = {"key": TAINT, "operator": "Exists", "effect": EFFECT}
GPUS = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
JOB_MAPPING = "/var/lib/dcgm-exporter/job-mapping"
"""Where the exporter looks for the job of each GPU."""
PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}


def releases(nodes: Nodes, kube: Kube) -> list[Json]:
    """What must be installed: nothing, where the site gives pods their GPUs by other means."""
    part = kube.gpu_operator
    if not part.install:
        return []
    vendors = {build.gpus.vendor for build in nodes.classes.values()}
    return [_release(vendor, part) for vendor in CHARTS if vendor in vendors]


def _release(vendor: str, part: GpuOperator) -> Json:
    chart = CHARTS[vendor]
    return {
        "vendor": vendor,
        "name": "gpu-operator",
        "namespace": part.namespace,
        "labels": {INFRA: "true", **PRIVILEGED},
        "chart": chart.name,
        "version": chart.version,
        "source": chart.source,
        "values": nvidia_values(part),
    }


def nvidia_values(part: GpuOperator) -> Json:
    """Values of NVIDIA's chart, at the levels that it reads."""
    ours: Json = {
        "nfd": {"enabled": True},
        "cdi": {"enabled": True},
        "toolkit": {"enabled": True},
        "devicePlugin": {"enabled": True},
        "gfd": {"enabled": True},
        "mig": {"strategy": part.mig_strategy},
        "dcgm": {"enabled": False},
        "dcgmExporter": {
            "enabled": True,
            "hpcJobMapping": {"enabled": True, "directory": JOB_MAPPING},
            "serviceMonitor": {"enabled": part.service_monitor},
        },
        # each list replaces the chart's own, which has no toleration of the gate's taint; they are two charts
        "daemonsets": {"tolerations": [GPUS, GATE]},
        "node-feature-discovery": {"worker": {"tolerations": [CONTROL_PLANE, GPUS, GATE]}},
    }
    for path, (value, _) in OURS.items():
        ours = combined(ours, _nested(path, value))
    return combined(ours, part.values)


def images(vendor: str, values: Mapping[str, Any]) -> list[Image]:
    """The images that a chart brings with these values."""
    return [image for image in CHARTS[vendor].images if not image.switch or _at(values, image.switch)]


def _nested(path: str, value: Any) -> Json:
    for key in reversed(path.split(".")):
        value = {key: value}
    return value


def _at(values: Any, path: str) -> bool:
    for key in path.split("."):
        values = values.get(key, {}) if isinstance(values, Mapping) else {}
    return values is True
