# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Workloads of two nodes: what they do together, whose failure is told, and what an absence of the API server does."""

from __future__ import annotations

import pytest

from lab.hosts.paths import REPOSITORY
from tests.stack import ssh, until

from .conftest import HOME, NODES, closed, code, ended, nothing_left, output, run, running, submit

pytestmark = pytest.mark.xdist_group("both")

ADA = HOME.format("ada")


@pytest.fixture(autouse=True)
def free_nodes() -> None:
    until(closed, 180, "both nodes closed and in service")


def test_two_nodes_add_up_their_numbers_as_the_submitting_user() -> None:
    ssh("gpu01", f"cat > {ADA}/all_reduce.py", (REPOSITORY / "examples/all_reduce.py").read_text())
    ssh("gpu01", f"rm -f {ADA}/sum-*; chown ada:vision {ADA}/all_reduce.py")
    job = submit("", (REPOSITORY / "examples/two-nodes.sbatch").read_text())
    until(lambda: ended(job), 120, "the job ends")
    said = output(job)
    for rank, node in enumerate(NODES):
        assert f"[rank {rank}] rank {rank} on {node} as uid 2001 with 8 GPUs: sum 3.0, expected 3.0" in said, said
    assert code(job) == "COMPLETED|0:0"
    assert ssh("gpu02", f"stat -c '%U:%G %a' {ADA}/sum-0.txt {ADA}/sum-1.txt").split("\n") == ["ada:vision 644"] * 2
    nothing_left(job)


def test_the_rank_that_failed_is_named_with_its_last_words() -> None:
    job = submit("-N2", run("[ $NODE_RANK = 0 ] && exec sleep 60; echo boom; exit 3", "--grace 1"))
    until(lambda: ended(job), 60, "the job ends")
    assert "[rank 1] boom\ndrawbridge-run: rank 1 on gpu02 ended with exit code 3" in output(job)
    assert code(job) == "FAILED|3:0"
    nothing_left(job)


def test_an_api_server_that_goes_away_for_a_while_ends_nothing() -> None:
    job = submit("-N2", run("echo begun; sleep 12; echo through", "--all-logs"))
    until(lambda: running(job) == 2, 60, "both pods run")
    ssh("ctl", "systemctl stop kube-apiserver; sleep 6; systemctl start kube-apiserver")
    until(lambda: ended(job), 120, "the job ends")
    assert code(job) == "COMPLETED|0:0"
    said = output(job)
    assert sorted(line for line in said.splitlines() if line.startswith("[")) == [
        f"[rank {rank}] {word}" for rank in (0, 1) for word in ("begun", "through")
    ], said
    nothing_left(job)
