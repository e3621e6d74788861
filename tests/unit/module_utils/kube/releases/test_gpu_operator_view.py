# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.model import Kube
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import NVIDIA
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.gpu_operator_view import (
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
