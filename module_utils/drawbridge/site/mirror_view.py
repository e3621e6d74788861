# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Charts, images and packages that the mirror of a site without internet access must have."""

from __future__ import annotations

from typing import Any

from ..kube.model import Kube
from ..kube.releases.catalogue import CHARTS, PAUSE, RDMA_PLUGIN, Image
from ..kube.releases.gpu_operator_view import gpu_operator, images
from ..nodes.model import Nodes
from ..slurm.logins.model import ADOPT
from ..slurm.model import Slurm
from ..slurm.packaging import PACKAGINGS

Json = dict[str, Any]
UNPUBLISHED = "not published by the vendor; note it when you copy the image"


def mirror(nodes: Nodes, slurm: Slurm, kube: Kube) -> Json:
    """The contents of the mirror of a site without internet access.

    C(charts), C(images) with their digests, and C(packages).
    """
    charts = gpu_operator(nodes, kube)
    found = [image for chart in charts for image in images(chart["values"], CHARTS[chart["vendor"]])]
    packaging = PACKAGINGS[slurm.packages]
    names = {*packaging.controller, *packaging.accounting, *packaging.database, *packaging.node, *packaging.login}
    names |= {*packaging.adopt} if slurm.node_logins.policy == ADOPT else set()
    names |= {*packaging.detection} if any(build.gpus.divided for build in nodes.classes.values()) else set()
    return {
        "charts": [_chart(chart) for chart in charts],
        "images": sorted(
            {_image(image)["image"]: _image(image) for image in [*found, *_own(kube)]}.values(),
            key=lambda item: item["image"],
        ),
        "packages": sorted(
            [*(_package(name, slurm.version) for name in names), *_members(kube)], key=lambda item: item["package"]
        ),
    }


def _chart(chart: Json) -> Json:
    return {key: chart[key] for key in ("chart", "version", "source", "digest")}


def _own(kube: Kube) -> list[Image]:
    """Images that are in no chart: the RDMA plugin's and the pause image."""
    found = [_named(kube.rdma.image, RDMA_PLUGIN)] if kube.rdma.install else []
    return [*found, _named(kube.sandbox_image, PAUSE)] if kube.join == "drawbridge" else found


def _named(text: str, known: Image) -> Image:
    """The image of a name with tag or digest; for the known image, with its known digest."""
    name, _sep, digest = text.partition("@")
    if digest:
        return Image(name, "", digest)
    name, _sep, tag = name.rpartition(":")
    return Image(name, tag, known.digest if (name, tag) == (known.name, known.tag) else "")


def _members(kube: Kube) -> list[Json]:
    """Pinned packages of kubelet and containerd."""
    return [{"package": package.name, "version": package.version} for package in kube.packages]


def _image(image: Image) -> Json:
    name = f"{image.name}:{image.tag}" if image.tag else image.name
    return {"image": name, "digest": image.digest or UNPUBLISHED}


def _package(name: str, release: str) -> Json:
    """Slurm's packages must be of one release; the others are the distribution's."""
    is_slurm = name.startswith(("slurm", "sackd"))
    return {"package": name, "version": f"{release}.*" if is_slurm else "the distribution's"}
