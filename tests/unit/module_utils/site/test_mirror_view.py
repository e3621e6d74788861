# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.member.view import kube_node
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.model import Kube
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import (
    AMD,
    NVIDIA,
)
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


AMDS = ["docker.io/rocm/k8s-device-plugin:1.31.0.9"]


def of(name: str, *classes: str) -> dict[str, Any]:
    """The mirror of an example, with these node classes of another one."""
    intent = site(name)
    intent["drawbridge_nodes"]["classes"] |= {
        it: site("example-slices")["drawbridge_nodes"]["classes"][it] for it in classes
    }
    return mirror(*(part(it, intent[f"drawbridge_{it}"]) for it in ("nodes", "slurm", "kube")))


def test_a_site_with_gpus_of_one_vendor_mirrors_nothing_of_the_other() -> None:
    found = of("example-mi300x")
    assert [(it["chart"], it["digest"]) for it in found["charts"]] == [("amd-gpu", AMD.digest)]
    images_of_gpus = [it["image"] for it in found["images"] if "rdma" not in it["image"]]
    assert images_of_gpus == AMDS
    assert not [name for name in images() if "rocm" in name or "amd" in name]


def test_a_site_with_gpus_of_both_vendors_mirrors_both() -> None:
    found = of("example-mi300x", "h100")
    assert [it["chart"] for it in found["charts"]] == ["gpu-operator", "amd-gpu"]
    names = [it["image"] for it in found["images"]]
    assert {*AMDS, "nvcr.io/nvidia/gpu-operator:v26.7.0"} <= {*names}


def test_the_plugin_that_detects_instances_is_mirrored_where_gpus_are_divided() -> None:
    """Divided nodes install it; others do not need the archive's part contrib."""
    assert "slurm-wlm-nvml-plugin" in packages(of("example-slices"))
    plain = site("example-slices")
    del plain["drawbridge_nodes"]["classes"]["slices"]["gpus"]["mig"]
    parts = [part(it, plain[f"drawbridge_{it}"]) for it in ("nodes", "slurm", "kube")]
    assert "slurm-wlm-nvml-plugin" not in packages(mirror(*parts))


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
