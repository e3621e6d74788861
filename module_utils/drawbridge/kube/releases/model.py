# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What gives pods their devices: the GPU operator and the RDMA shared device plugin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ...core.options import NAME, option
from .catalogue import NVIDIA, RDMA_PLUGIN

IMAGE = r"[a-z0-9._/:-]+(:[A-Za-z0-9._-]+|@sha256:[0-9a-f]{64})"


@dataclass(frozen=True)
class GpuOperator:
    """The GPU vendor's operator: device plugin, container toolkit, metrics. The driver is the host's."""

    install: bool = option("false: pods get GPUs by other means, and the chart is left alone", True)
    version: str = option("release of NVIDIA's chart, of those known", NVIDIA.version, choices=(NVIDIA.version,))
    namespace: str = option("namespace of the release", "gpu-operator", pattern=NAME)
    mig_strategy: str = option(
        "how GPUs that are cut up are named; jobs of gated partitions get whole ones",
        "single",
        choices=("none", "single"),
    )
    service_monitor: bool = option("true: Prometheus' operator is there, and is told of the GPUs' metrics", False)
    values: Mapping[str, Any] = option(
        "the site's own values of NVIDIA's chart, nested as the chart has them; they win over ours",
        MappingProxyType({}),
    )


@dataclass(frozen=True)
class RdmaResource:
    """What pods ask for as rdma/<name>."""

    name: str = option("name of the resource, with letters, digits and _", pattern=r"[a-zA-Z0-9_]+")
    rails: tuple[int, ...] = option("rails that it gives, all of them at once; the first is 0", low=0, high=63)


@dataclass(frozen=True)
class Rdma:
    """The plugin that gives pods the RDMA devices of their node."""

    install: bool = option("false: pods get RDMA devices by other means, under the same names", True)
    image: str = option(
        "image of the plugin, with its tag",
        f"{RDMA_PLUGIN.name}:{RDMA_PLUGIN.tag}",
        pattern=IMAGE,
    )
    namespace: str = option("namespace of its pods", "kube-system", pattern=NAME)
    resources: tuple[RdmaResource, ...] = option(
        "what pods may ask for (none: one resource a rail, rail0 and so on)", ()
    )
    share: int = option("pods that may have one resource of a node at a time (rdmaHcaMax)", 63, low=1, high=1000)
    look_again_s: int = option("how often devices are looked for, in seconds; 0: never again", 300, low=0, high=86400)
