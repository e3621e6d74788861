# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import (
    AMD,
    CHARTS,
    NVIDIA,
    RDMA_PLUGIN,
    Chart,
    Image,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.values import tree

from tests.conformance.tree import ROOT


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_the_chart_and_its_tree_are_of_one_release(chart: Chart) -> None:
    text = (ROOT / f"module_utils/drawbridge/kube/releases/{chart.tree}.txt").read_text()
    assert text.startswith(f"# chart: {chart.name} {chart.version}\n")


@pytest.mark.parametrize("image", [RDMA_PLUGIN, *NVIDIA.images, *AMD.images], ids=lambda image: image.name)
def test_images_are_pinned_and_their_switches_exist(image: Image) -> None:
    assert image.tag != "latest" and re.fullmatch(r"(sha256:[0-9a-f]{64})?", image.digest)
    known = tree(NVIDIA.tree)
    for key in filter(None, image.switch.split(".")):
        known = known[key]
