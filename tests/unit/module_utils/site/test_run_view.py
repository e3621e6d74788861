# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.load import part
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.run_view import run_site
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.view import shared

from tests.unit.module_utils.site.test_refused import site

SITE = site("lab")
SLURM, NODES, GPFS, KUBE = (part(domain, SITE[f"drawbridge_{domain}"]) for domain in ("slurm", "nodes", "gpfs", "kube"))
SHARED = shared(GPFS)


def test_a_node_knows_what_a_pod_takes_there() -> None:
    found = run_site(SLURM, SHARED, KUBE, NODES, "gpu01")
    assert found["gpu_resource"] == "nvidia.com/gpu"
    assert found["devices"] == {f"rdma/rail{rail}": "1" for rail in range(8)}
    assert found["mounts"] == ["/gpfs/fs1"]
