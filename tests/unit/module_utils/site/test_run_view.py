# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.run_view import (
    drawbridge_run,
    drawbridge_status,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.slurm.accounting.model import Budget, Qos
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.telemetry.model import (
    Prometheus,
    Telemetry,
)

from tests.unit.module_utils.lab import GPFS, KUBE, NODES, SLURM
from tests.unit.module_utils.site.test_pod_view import with_halves


def test_a_node_knows_what_a_pod_takes_there() -> None:
    found = drawbridge_run(NODES, SLURM, {"gpfs": GPFS}, KUBE, "gpu01")
    assert found["gpu_resource"] == "nvidia.com/gpu"
    assert found["devices"] == {f"rdma/rail{rail}": "1" for rail in range(8)}
    assert found["mounts"] == {space: ["/gpfs/fs1"] for space in ("vision", "speech", "chem")}


def test_a_host_knows_whether_nodes_of_a_job_may_be_unlike() -> None:
    """Sites without instances have no key for it."""
    assert "unlike_nodes" not in drawbridge_run(NODES, SLURM, {"gpfs": GPFS}, KUBE, "gpu01")
    assert drawbridge_run(with_halves("h100"), SLURM, {"gpfs": GPFS}, KUBE, "gpu01")["unlike_nodes"] is True


def test_a_host_knows_gated_partitions_and_no_nodes() -> None:
    assert drawbridge_status(SLURM) == {"gated": ["ai-train"]}
    answers = Telemetry(prometheus=Prometheus("ctl", url="http://ctl:9090"))
    assert drawbridge_status(SLURM, answers)["prometheus"] == "http://ctl:9090"
    assert drawbridge_status(SLURM, Telemetry(prometheus=Prometheus("ctl"))) == drawbridge_status(SLURM, Telemetry())


def test_programs_of_people_know_when_budgets_begin_anew() -> None:
    """A site without budgets has no key for them."""
    qos = (Qos("monthly", budget=Budget(gpu_hours=5, period="month")), Qos("once", budget=Budget(gpu_hours=5)))
    site = replace(SLURM, qos=qos)
    assert drawbridge_status(site)["budgets"] == {"monthly": "month"}
    assert drawbridge_run(NODES, site, {"gpfs": GPFS}, KUBE, "gpu01")["budgets"] == {"monthly": "month"}
    assert "budgets" not in drawbridge_run(NODES, SLURM, {"gpfs": GPFS}, KUBE, "gpu01")
