# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The GPU operator and the RDMA shared device plugin, which give pods their devices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...core.options import LABEL, Shape, option
from ..gpu_resources import SINGLE, STRATEGIES
from .catalogue import NVIDIA, RDMA_PLUGIN

IMAGE = Shape(
    r"[a-z0-9._/:-]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})",
    "an image with its tag or digest",
    "registry, name and tag, such as registry.k8s.io/pause:3.10",
)
RESOURCE = Shape(
    r"[a-zA-Z0-9_]{1,63}",
    "the name of an RDMA resource",
    "at most 63 letters, digits and underscores, such as rdma_rail0",
)


@dataclass(frozen=True)
class GpuOperator:
    """NVIDIA's GPU operator: device plugin, toolkit, metrics; or AMD's device plugin. Drivers are the host's."""

    install: bool = option("false: pods get GPUs by other means; the charts are not touched", True)
    version: str = option("release of NVIDIA's chart", NVIDIA.version, choices=(NVIDIA.version,))
    namespace: str = option("namespace of the release", "gpu-operator", pattern=LABEL)
    mig_strategy: str = option(
        "how pods request instances of GPUs (MIG): as GPUs (single), by profile such as nvidia.com/mig-3g.40gb (mixed),"
        " or not at all (none). Single needs one profile for all instances of a node",
        SINGLE,
        choices=STRATEGIES,
    )
    service_monitor: bool = option(
        "true: create a ServiceMonitor for the GPUs' metrics; needs Prometheus' operator", False
    )
    counters: str = option(
        "counters of dcgm-exporter: training adds SM activity and occupancy, NVLink, lowered clocks and ECC errors to"
        " the chart's own",
        "training",
        choices=("training", "chart"),
    )
    values: Mapping[str, Any] = option(
        "the site's own values of NVIDIA's chart, nested as in the chart; they override Drawbridge's",
        MappingProxyType({}),
    )
    amd_values: Mapping[str, Any] = option(
        "the same of the chart of AMD's device plugin (amd-gpu), which nodes with AMD's GPUs get",
        MappingProxyType({}),
    )


@dataclass(frozen=True)
class RdmaResource:
    """A resource that pods request as rdma/<name>."""

    name: str = option("name of the resource, with letters, digits and _", pattern=RESOURCE)
    rails: tuple[int, ...] = option("its rails; a pod gets all of them; the first rail is 0", low=0, high=63)


@dataclass(frozen=True)
class Rdma:
    """The RDMA shared device plugin."""

    install: bool = option("false: pods get RDMA devices by other means, under the same names", True)
    image: str = option("image of the plugin, with its tag", f"{RDMA_PLUGIN.name}:{RDMA_PLUGIN.tag}", pattern=IMAGE)
    namespace: str = option("namespace of its pods", "kube-system", pattern=LABEL)
    resources: tuple[RdmaResource, ...] = option(
        "resources that pods may request (none: one resource per rail, rail0 and so on)", ()
    )
    share: int = option("pods that may have one resource of a node at a time (rdmaHcaMax)", 63, low=1, high=1000)
    look_again_s: int = option(
        "interval of the plugin's device scan, in seconds; 0: only one scan, at its start", 300, low=0, high=86400
    )
