# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.status_view import drawbridge_status

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
SLURM, KUBE = (part(domain, SITE[f"drawbridge_{domain}"]) for domain in ("slurm", "kube"))


def test_a_host_knows_gated_partitions_and_no_nodes() -> None:
    assert drawbridge_status(SLURM, KUBE) == {"gated": ["ai-train"]}


def test_without_kubernetes_no_partition_is_gated() -> None:
    assert drawbridge_status(SLURM, None)["gated"] == []
