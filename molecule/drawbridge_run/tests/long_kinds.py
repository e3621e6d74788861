# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorchJob and a TrainJob under the real controllers: `pytest molecule/drawbridge_run/tests/long_kinds.py`.

On demand, in a lab that the scenario built; the controllers are built once, in minutes. docs/support.md has what came.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lab.hosts.paths import REPOSITORY
from tests.stack import ssh, until

from .conftest import HOME, NODES, closed, code, ended, output, pods, submit
from .operators import ADMIN, JOBSET, TRAINER, TRAINING_OPERATOR, at_work

ADA = HOME.format("ada")


@pytest.fixture(scope="module")
def pytorchjob() -> Iterator[str]:
    """The training-operator at work; the kind's objects."""
    with at_work(TRAINING_OPERATOR):
        yield "pytorchjobs,services"


@pytest.fixture(scope="module")
def trainjob() -> Iterator[str]:
    """JobSet and Trainer at work; the kind's objects, those that are made of it too."""
    with at_work(JOBSET, TRAINER):
        yield "trainjobs,trainingruntimes,jobsets,jobs,services"


@pytest.mark.parametrize("kind", ["pytorchjob", "trainjob"])
def test_two_nodes_add_up_their_numbers_as_the_submitting_user(kind: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(kind)
    until(closed, 120, "both nodes closed and in service")
    ssh("gpu01", f"cat > {ADA}/all_reduce.py", (REPOSITORY / "examples/all_reduce.py").read_text())
    ssh("gpu01", f"rm -f {ADA}/sum-*; chown ada:vision {ADA}/all_reduce.py")
    script = (REPOSITORY / "examples/two-nodes.sbatch").read_text()
    job = submit("", script.replace("--all-logs", f"--all-logs --backend {kind}"))
    until(lambda: ended(job), 120, "the job ends")
    said = output(job)
    for rank, node in enumerate(NODES):
        assert f"[rank {rank}] rank {rank} on {node} as uid 2001 with 8 GPUs: sum 3.0, expected 3.0" in said, said
    assert code(job) == "COMPLETED|0:0"
    assert ssh("gpu02", f"stat -c '%U:%G %a' {ADA}/sum-0.txt {ADA}/sum-1.txt").split("\n") == ["ada:vision 644"] * 2
    until(closed, 60, "both nodes closed")
    assert pods(job) == []
    assert ssh("ctl", f"kubectl --kubeconfig={ADMIN} -n vision get {made} -o name") == ""
