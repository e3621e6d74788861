# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.status_view import drawbridge_status

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
SLURM, NODES, KUBE = (part(domain, SITE[f"drawbridge_{domain}"]) for domain in ("slurm", "nodes", "kube"))


def test_a_host_knows_gated_partitions_and_units() -> None:
    assert drawbridge_status(NODES, SLURM, KUBE) == {
        "gated": ["ai-train"],
        "units": {"leaf1": "gpu[01-02]", "leaf2": "gpu[03-04]"},
    }


def test_without_kubernetes_no_partition_is_gated() -> None:
    assert drawbridge_status(NODES, SLURM, None)["gated"] == []
