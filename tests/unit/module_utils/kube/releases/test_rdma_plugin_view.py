# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.model import Rdma
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.rdma_plugin_view import (
    config,
    rdma_plugin,
    taints,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.model import Nodes

from tests.unit.module_utils.lab import NODES, kube

KUBE = kube(rdma={})


def entries_of(nodes: Nodes) -> list[dict[str, Any]]:
    return config(nodes, KUBE)["configList"]


def test_one_resource_a_rail() -> None:
    """The keys are what github.com/Mellanox/k8s-rdma-shared-dev-plugin, tag v1.5.3, reads (pkg/types/types.go)."""
    assert {*config(NODES, KUBE)} == {"periodicUpdateInterval", "configList"}
    entries = entries_of(NODES)
    assert [entry["resourceName"] for entry in entries] == [f"rail{rail}" for rail in range(8)]
    assert entries[3] == {
        "resourceName": "rail3",
        "rdmaHcaMax": 63,
        "selectors": {"vendors": ["15b3"], "deviceIDs": ["1021"], "ifNames": ["rail3"]},
    }


def test_classes_with_other_nics_share_one_configuration() -> None:
    build = NODES.classes["h100"]
    other = replace(build, nics=(replace(build.nics[0], netdev="eth[0-3]", rdma="mlx5_[0-3]", device="15b3:1023"),))
    entries = entries_of(replace(NODES, classes={"h100": build, "b200": other}))
    assert entries[0]["selectors"] == {"vendors": ["15b3"], "deviceIDs": ["1021", "1023"], "ifNames": ["rail0", "eth0"]}
    assert entries[7]["selectors"]["ifNames"] == ["rail7"]


def test_without_devices_names_are_enough() -> None:
    build = NODES.classes["h100"]
    plain = replace(NODES, classes={"h100": replace(build, nics=(replace(build.nics[0], device=""),))})
    assert entries_of(plain)[0]["selectors"] == {"ifNames": ["rail0"]}


def test_nothing_where_the_site_has_other_means() -> None:
    assert rdma_plugin(NODES, replace(KUBE, rdma=Rdma(install=False))) == []


def daemon_set(of: Any = KUBE) -> dict[str, Any]:
    return rdma_plugin(NODES, of)[1]["spec"]["template"]


def test_pods_are_made_anew_for_another_configuration_only() -> None:
    grown = replace(NODES, ranges=(*NODES.ranges, replace(NODES.ranges[0], names="gpu[05-99]")))
    assert rdma_plugin(grown, KUBE) == rdma_plugin(NODES, KUBE), "more nodes must not restart the plugin on all"
    assert daemon_set(replace(KUBE, rdma=Rdma(share=1)))["metadata"] != daemon_set()["metadata"]


def test_it_runs_where_sites_keep_pods_without_gpus_off_gpu_nodes() -> None:
    keys = {it["key"] for it in daemon_set()["spec"]["tolerations"]}
    assert {"drawbridge.io/slurm", "nvidia.com/gpu"} <= keys


def test_it_tolerates_taints_of_the_sites_own_vendors() -> None:
    build = NODES.classes["h100"]
    gpus = replace(build.gpus, vendor="amd", type="mi300x", minors=tuple(range(128, 192, 8)))
    amd = replace(NODES, classes={"mi300x": replace(build, gpus=gpus)})
    assert taints(amd) == ["drawbridge.io/slurm", "amd.com/gpu"]
    assert taints(replace(NODES, classes={**amd.classes, "h100": build}))[1:] == ["amd.com/gpu", "nvidia.com/gpu"]
    assert taints(replace(NODES, classes={}))[1:] == ["nvidia.com/gpu"]
