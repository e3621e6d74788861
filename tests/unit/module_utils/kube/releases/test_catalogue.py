# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import (
    CHARTS,
    RDMA_PLUGIN,
    Chart,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.values import tree, unread

from tests.conformance.tree import ROOT


@pytest.mark.parametrize("chart", CHARTS.values(), ids=list(CHARTS))
def test_charts_and_their_trees_are_of_one_release(chart: Chart) -> None:
    text = (ROOT / f"module_utils/drawbridge/kube/releases/{chart.tree}.txt").read_text()
    assert text.startswith(f"# chart: {chart.name} {chart.version}\n")


@pytest.mark.parametrize("chart", CHARTS.values(), ids=list(CHARTS))
def test_what_turns_an_image_on_is_a_value_of_its_chart(chart: Chart) -> None:
    for image in chart.images:
        switch: object = True
        for key in reversed(image.switch.split(".") if image.switch else []):
            switch = {key: switch}
        assert not isinstance(switch, dict) or unread(switch, tree(chart.tree)) == []


def test_images_are_pinned() -> None:
    for image in [RDMA_PLUGIN, *(image for chart in CHARTS.values() for image in chart.images)]:
        assert image.tag != "latest" and re.fullmatch(r"(sha256:[0-9a-f]{64})?", image.digest), image
