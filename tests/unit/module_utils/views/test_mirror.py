# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.charts.catalogue import CHARTS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.intent.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.intent.model import (
    GpuOperator,
    Kube,
    Rdma,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.views.mirror import UNPUBLISHED, mirror
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.views.rdma_plugin import manifests

from tests.conformance.tree import ROLES, ROOT
from tests.unit.intent.test_refused import site

SITE = site("example-h100")
NODES, SLURM = part("nodes", SITE["drawbridge_nodes"]), part("slurm", SITE["drawbridge_slurm"])
KUBE: Kube = part("kube", SITE["drawbridge_kube"])


def listed(kube: Kube = KUBE, *roles: dict[str, Any]) -> dict[str, Any]:
    return mirror(NODES, kube, SLURM, roles)


def images(kube: Kube = KUBE) -> dict[str, str]:
    return {item["image"]: item["digest"] for item in listed(kube)["images"]}


def test_charts_and_the_images_that_they_bring() -> None:
    assert listed()["charts"] == [
        {"chart": "gpu-operator", "version": "v26.7.0", "source": "https://helm.ngc.nvidia.com/nvidia"}
    ]
    found = images()
    for image in CHARTS["nvidia"].images:
        if image.switch in ("toolkit.enabled", "devicePlugin.enabled", "dcgmExporter.enabled"):
            assert found[f"{image.name}:{image.tag}"] == image.digest != ""
    assert found["nvcr.io/nvidia/gpu-operator:v26.7.0"] == UNPUBLISHED
    assert not any("mig-manager" in name for name in found), "what is turned off needs no mirror"


def test_it_lists_what_the_role_runs() -> None:
    container = manifests(NODES, KUBE)[1]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] in images()
    own = replace(KUBE, rdma=Rdma(image=f"mirror:5000/rdma@sha256:{'a' * 64}"))
    assert images(own)["mirror:5000/rdma"] == f"sha256:{'a' * 64}"


def test_nothing_for_what_the_site_does_otherwise() -> None:
    bare = replace(KUBE, gpu_operator=GpuOperator(install=False), rdma=Rdma(install=False), packages=())
    assert listed(bare) == {"charts": [], "images": [], "packages": []}


def test_packages_are_the_roles_own_and_what_joins_nodes() -> None:
    kubelet, containerd = KUBE.packages
    found = listed(KUBE, {"__a_packages": ["munge", "slurmd"], "__a_other": ["x"]}, {"__b_packages": ["munge"]})
    assert found["packages"] == [
        {"package": "containerd.io", "version": containerd.version},
        {"package": "kubelet", "version": kubelet.version},
        {"package": "munge", "version": "the distribution's"},
        {"package": "slurmd", "version": "24.11.*"},
    ]


def test_every_role_with_packages_is_asked() -> None:
    asked = yaml.safe_load((ROOT / "roles/cluster_intent/vars/main.yml").read_text())["__cluster_intent_packaged"]
    for role in ROLES:
        path = role / "vars/main.yml"
        if path.exists() and f"__{role.name}_packages" in yaml.safe_load(path.read_text()):
            assert any(f"/{role.name}/vars/main.yml" in text for text in asked), role.name
