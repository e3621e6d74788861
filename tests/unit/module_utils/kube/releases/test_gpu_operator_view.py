# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.gpu_resources import STRATEGIES
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.model import Kube
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import (
    AMD,
    CHARTS,
    NVIDIA,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.gpu_operator_view import (
    GATE,
    amd_values,
    gpu_operator,
    images,
    nvidia_values,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.model import GpuOperator
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.values import tree, unread
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nodes
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part

from tests.unit.module_utils.site.test_refused import site

NODES: Nodes = part("nodes", site("example-rails")["drawbridge_nodes"])
KUBE: Kube = part("kube", site("example-rails")["drawbridge_kube"])


def test_no_release_where_the_site_has_other_means() -> None:
    assert gpu_operator(NODES, replace(KUBE, gpu_operator=GpuOperator(install=False))) == []


@pytest.mark.parametrize("part", [GpuOperator(), GpuOperator(mig_strategy="none", service_monitor=True)])
def test_the_chart_reads_all_values_that_are_set(part: GpuOperator) -> None:
    assert unread(nvidia_values(part), tree(NVIDIA.tree)) == {}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_operator_changes_no_instances_under_any_strategy(strategy: str) -> None:
    """Names of instances are Kubernetes' part; Slurm's part divides GPUs, on drained nodes."""
    values = nvidia_values(GpuOperator(mig_strategy=strategy))
    assert values["mig"] == {"strategy": strategy} and values["migManager"] == {"enabled": False}
    assert values["cdi"] == {"enabled": True}, "or a container would see instances of one profile alone"


def of_amd(also_nvidia: bool = False) -> Nodes:
    """The site with AMD's GPUs."""
    build = NODES.classes["h100"]
    amd = replace(build, gpus=replace(build.gpus, type="mi300x", vendor="amd", minors=tuple(range(128, 192, 8))))
    return replace(NODES, classes={"mi300x": amd, **({"h100": build} if also_nvidia else {})})


def test_nodes_get_the_chart_of_their_vendor() -> None:
    assert [it["vendor"] for it in gpu_operator(NODES, KUBE)] == ["nvidia"]
    (release,) = gpu_operator(of_amd(), KUBE)
    assert (release["vendor"], release["name"], release["version"]) == ("amd", "amd-gpu", "0.21.0")
    assert release["values"]["labeller"] == release["values"]["nfd"] == {"enabled": False}
    assert GATE in release["values"]["tolerations"]
    assert [it["vendor"] for it in gpu_operator(of_amd(also_nvidia=True), KUBE)] == ["nvidia", "amd"]


@pytest.mark.parametrize("vendor", CHARTS)
def test_each_chart_is_pinned_by_release_and_digest(vendor: str) -> None:
    """Whoever writes to the chart's repository must not choose what runs in the cluster."""
    chart = CHARTS[vendor]
    assert re.fullmatch(r"v?\d+\.\d+\.\d+", chart.version) and re.fullmatch("[0-9a-f]{64}", chart.digest)
    nodes = of_amd() if vendor == "amd" else NODES
    assert [it["digest"] for it in gpu_operator(nodes, KUBE)] == [chart.digest]


def test_the_chart_of_amd_reads_all_values_that_are_set() -> None:
    part = GpuOperator(amd_values={"dp": {"image": {"tag": "1.31.0.8"}}})
    assert unread(amd_values(part), tree(AMD.tree)) == {}
    assert amd_values(part)["dp"]["image"]["tag"] == "1.31.0.8"
    assert [image.name for image in images(amd_values(part), AMD)] == ["docker.io/rocm/k8s-device-plugin"]


def test_the_sites_values_win() -> None:
    part = GpuOperator(values={"toolkit": {"enabled": False}, "dcgmExporter": {"enablePodLabels": True}})
    values = nvidia_values(part)
    assert values["toolkit"] == {"enabled": False}
    assert values["dcgmExporter"]["enablePodLabels"] and values["dcgmExporter"]["hpcJobMapping"]["enabled"]


def test_the_sites_own_counters_replace_ours() -> None:
    assert nvidia_values(GpuOperator())["dcgmExporter"]["config"]["create"] is True
    assert "config" not in nvidia_values(GpuOperator(counters="chart"))["dcgmExporter"]
    own = GpuOperator(values={"dcgmExporter": {"config": {"name": "own", "create": False}}})
    assert nvidia_values(own)["dcgmExporter"]["config"]["name"] == "own"


def test_images_are_those_that_run() -> None:
    names = [image.name.rsplit("/", 1)[-1] for image in images(nvidia_values(GpuOperator()))]
    assert names == [
        "gpu-operator",
        "container-toolkit",
        "k8s-device-plugin",
        "dcgm-exporter",
        "node-feature-discovery",
    ]
    more = nvidia_values(GpuOperator(values={"gdrcopy": {"enabled": True}, "toolkit": {"enabled": False}}))
    names = [image.name.rsplit("/", 1)[-1] for image in images(more)]
    assert "gdrdrv" in names and "container-toolkit" not in names
