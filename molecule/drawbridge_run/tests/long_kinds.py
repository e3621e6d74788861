# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A PyTorchJob and a TrainJob under the real controllers.

On demand, in the lab that the scenario built: `LAB_ID=59 pytest molecule/drawbridge_run/tests/long_kinds.py`. The
controllers are built once, in minutes. docs/support.md has what came.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.stack import ssh, until

from .conftest import add_up, closed, pods
from .operators import ADMIN, JOBSET, TRAINER, TRAINING_OPERATOR, at_work


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
    # a namespace's quota refuses a new kind until Kubernetes has counted it, which takes up to five minutes
    job = add_up(f"--backend {kind}", limit_s=600)
    until(closed, 60, "both nodes closed")
    assert pods(job) == []
    assert ssh("ctl", f"kubectl --kubeconfig={ADMIN} -n vision get {made} -o name") == ""
