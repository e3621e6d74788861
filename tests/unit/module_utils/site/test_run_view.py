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


def test_a_site_names_its_rdma_devices() -> None:
    raw = {**SITE["drawbridge_kube"], "rdma": {"resources": [{"name": "rails", "rails": list(range(8))}]}}
    assert run_site(SLURM, SHARED, part("kube", raw), NODES, "gpu01")["devices"] == {"rdma/rails": "1"}


def test_a_login_host_knows_who_may_have_pods_and_no_more() -> None:
    found = run_site(SLURM, SHARED, KUBE, NODES, "login1")
    assert (found["partitions"], found["gpu_resource"], found["devices"]) == (["ai-train"], "", {})
    assert found["namespaces"] == {"vision": "vision", "speech": "speech", "chem": "chem"}


def test_no_file_knows_other_nodes() -> None:
    """A new node must not change a file on any other one."""
    assert "gpu02" not in str(run_site(SLURM, SHARED, KUBE, NODES, "gpu01"))
