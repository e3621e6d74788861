# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.view import kube_node
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.model import Kube
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import NVIDIA
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.model import (
    GpuOperator,
    Rdma,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.rdma_plugin_view import (
    rdma_plugin,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.mirror_view import (
    UNPUBLISHED,
    UNREAD,
    mirror,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.model import Slurm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.packaging import PACKAGINGS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.view import (
    slurm_controller,
    slurm_login,
    slurm_node,
)

from tests.unit.module_utils.site.test_refused import site

SITE = site("example-rails")
NODES, SLURM = part("nodes", SITE["drawbridge_nodes"]), part("slurm", SITE["drawbridge_slurm"])
KUBE: Kube = part("kube", SITE["drawbridge_kube"])


def listed(kube: Kube = KUBE, slurm: Slurm = SLURM) -> dict[str, Any]:
    return mirror(NODES, slurm, kube)


def images(kube: Kube = KUBE) -> dict[str, str]:
    return {item["image"]: item["digest"] for item in listed(kube)["images"]}


def test_charts_and_the_images_that_they_bring() -> None:
    assert [it["chart"] for it in listed()["charts"]] == ["gpu-operator"]
    assert listed()["charts"][0]["digest"] == NVIDIA.digest
    found = images()
    for image in NVIDIA.images:
        if image.switch in ("toolkit.enabled", "devicePlugin.enabled", "dcgmExporter.enabled"):
            assert found[f"{image.name}:{image.tag}"] == image.digest != ""
    assert found["nvcr.io/nvidia/gpu-operator:v26.7.0"] == UNPUBLISHED
    assert not any("mig-manager" in name for name in found), "what is turned off needs no mirror"


def test_a_chart_whose_digest_is_not_known_is_named() -> None:
    site_of_amd = site("example-mi300x")
    nodes, slurm, kube = (part(it, site_of_amd[f"drawbridge_{it}"]) for it in ("nodes", "slurm", "kube"))
    (chart,) = mirror(nodes, slurm, kube)["charts"]
    assert (chart["chart"], chart["digest"]) == ("amd-gpu", UNREAD)
    assert "docker.io/rocm/k8s-device-plugin:1.31.0.9" in [it["image"] for it in mirror(nodes, slurm, kube)["images"]]


def test_it_lists_what_the_role_runs() -> None:
    container = rdma_plugin(NODES, KUBE)[1]["spec"]["template"]["spec"]["containers"][0]
    assert container["image"] in images()
    own = replace(KUBE, rdma=Rdma(image=f"mirror:5000/rdma@sha256:{'a' * 64}"))
    assert images(own)["mirror:5000/rdma"] == f"sha256:{'a' * 64}"


def test_nothing_for_what_the_site_does_otherwise() -> None:
    bare = listed(replace(KUBE, gpu_operator=GpuOperator(install=False), rdma=Rdma(install=False), packages=()))
    assert bare["charts"] == []
    assert [item["image"] for item in bare["images"]] == ["registry.k8s.io/pause:3.10"], "no pod starts without it"
    assert not any(name in packages(bare) for name in ("kubelet", "containerd.io"))


def test_every_pods_own_image_where_we_say_which_it_is() -> None:
    digest = "sha256:ee6521f290b2168b6e0935a181d4cff9be1ac3f505666ef0e3c98fae8199917a"
    assert images().get(kube_node(KUBE)["runtime"]["sandbox_image"]) == digest
    other = images(replace(KUBE, sandbox_image="mirror:5000/pause:3.9"))
    assert other.get("mirror:5000/pause:3.9") == UNPUBLISHED
    assert not any("pause" in name for name in images(replace(KUBE, join="site")))


def packages(found: dict[str, Any]) -> dict[str, str]:
    return {item["package"]: item["version"] for item in found["packages"]}


@pytest.mark.parametrize("name", sorted({*PACKAGINGS} - {"site"}))
def test_what_the_roles_of_slurm_install_on_any_host(name: str) -> None:
    slurm = replace(SLURM, packages=name)
    found = packages(listed(slurm=slurm))
    hosts = (slurm_controller(NODES, slurm, True), slurm_node(NODES, slurm, "gpu001", True), slurm_login(slurm))
    assert {it.name: found[it.name] for it in KUBE.packages} == {it.name: it.version for it in KUBE.packages}
    installed = {package for host in hosts for package in host["packages"]["names"]}
    assert installed <= set(found)
    assert found["munge"] == "the distribution's"
    assert {found[package] for package in installed if package.startswith(("slurm", "sackd"))} == {f"{slurm.version}.*"}
