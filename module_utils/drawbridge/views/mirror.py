# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a site without a way to the internet must have on its mirror, from the data that the roles use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..charts.catalogue import RDMA_PLUGIN, Image
from ..intent.model import Kube, Nodes, Slurm
from .gpu_operator import images, releases

Json = dict[str, Any]
UNPUBLISHED = "not published by the vendor; note it when you copy the image"


def mirror(nodes: Nodes, kube: Kube, slurm: Slurm, roles: Iterable[Mapping[str, Any]]) -> Json:
    """Charts, images and packages. `roles` are variables of roles; lists of packages are called __<role>_packages."""
    charts = releases(nodes, kube)
    found = [image for chart in charts for image in images(chart["vendor"], chart["values"])]
    names = {name for role in roles for key, value in role.items() if key.endswith("_packages") for name in value}
    return {
        "charts": [{key: chart[key] for key in ("chart", "version", "source")} for chart in charts],
        "images": sorted(
            {_image(image)["image"]: _image(image) for image in [*found, *_plugin(kube)]}.values(),
            key=lambda item: item["image"],
        ),
        "packages": sorted(
            [*(_package(name, slurm.version) for name in names), *_members(kube)], key=lambda item: item["package"]
        ),
    }


def _plugin(kube: Kube) -> list[Image]:
    if not kube.rdma.install:
        return []
    name, _, tag = kube.rdma.image.partition("@")
    if tag:
        return [Image(name, "", tag)]
    name, _, tag = name.rpartition(":")
    digest = RDMA_PLUGIN.digest if (name, tag) == (RDMA_PLUGIN.name, RDMA_PLUGIN.tag) else ""
    return [Image(name, tag, digest)]


def _members(kube: Kube) -> list[Json]:
    """What makes nodes members of the cluster, as it is pinned."""
    return [{"package": package.name, "version": package.version} for package in kube.packages]


def _image(image: Image) -> Json:
    name = f"{image.name}:{image.tag}" if image.tag else image.name
    return {"image": name, "digest": image.digest or UNPUBLISHED}


def _package(name: str, release: str) -> Json:
    """Slurm's parts must be of one release; the rest is the distribution's own."""
    ours = name.startswith(("slurm", "sackd"))
    return {"package": name, "version": f"{release}.*" if ours else "the distribution's"}
