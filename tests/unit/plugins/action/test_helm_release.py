# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.action.helm_release import release, source_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.helm_io import Source

from tests.unit.module_utils.kube.releases.test_io import STEPS, VALUES, Charts, Server

ARGS = {
    "namespace": "gpus",
    "chart": "gpu-operator",
    "version": "v26.7.0",
    "values": VALUES,
}


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ("/srv/charts/gpu-operator-v26.7.0.tgz", Source("/srv/charts/gpu-operator-v26.7.0.tgz", "gpu-operator", "v1")),
        ("oci://mirror:5000/charts/", Source("oci://mirror:5000/charts/gpu-operator", "gpu-operator", "v1")),
        ("https://charts.example.org", Source("gpu-operator", "gpu-operator", "v1", "https://charts.example.org")),
    ],
)
def test_where_a_chart_may_be(given: str, source: Source) -> None:
    assert source_of(given, "gpu-operator", "v1") == source


def test_check_mode_predicts_the_run() -> None:
    server = Server()
    predicted = release(server, Charts(server), ARGS, check=True)
    done = release(server, Charts(server), ARGS, check=False)
    assert predicted["steps"] == done["steps"] == STEPS
    assert (done["changed"], done["failed"]) == (True, False)
