# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Real jobs on a real Slurm open real kubelets, and what else tries does not."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable

import pytest
from kubernetes.client import ApiException

from roles.slurm_gate.files.gate.gate_names import GATE_ACCOUNTS, NODE_ACCOUNTS, TAINT
from tests.races import audit as log
from tests.races.race import outcome
from tests.stack import (
    NODES,
    all_closed,
    all_usable,
    api_down,
    audit,
    audited,
    comment,
    ghost,
    glass,
    job_state,
    kube,
    move,
    pods,
    pods_for,
    quiet,
    reason,
    sbatch,
    ssh,
    state,
    until,
)

NODE_SA, GATE_SA = NODE_ACCOUNTS.rstrip(":"), GATE_ACCOUNTS.rstrip(":")
NODE_GROUP, GATE_GROUP = (account.replace("account:", "accounts:") for account in (NODE_SA, GATE_SA))
TRANSITIONS, IDENTITIES = (f"ValidatingAdmissionPolicy 'drawbridge-{name}'" for name in ("transitions", "identities"))
PAIR = ("gpu01", "gpu02")
OURS = "/etc/drawbridge /run/drawbridge /var/lib/drawbridge"
DAY_S = 86400

pytestmark = pytest.mark.usefixtures("impatient", "usable_before")


def usable() -> bool:
    return all_usable(NODES)


def test_a_job_of_another_partition_leaves_its_nodes_closed() -> None:
    job = sbatch("-p hpc -N1 -w gpu01 --output=/dev/null", "#!/bin/sh\nsleep 600\n")
    until(lambda: job_state(job) == "RUNNING", 180, "the job runs")
    assert all_closed(NODES)
    ssh("ctl", f"scancel {job}")


def test_the_last_element_of_an_array_keeps_its_node_though_the_first_is_over() -> None:
    """Slurm shows all elements for an array's number, which is also the last one's own."""
    array = quiet("-N1 -w gpu01 --array=1-2", '#!/bin/sh\n[ "$SLURM_ARRAY_TASK_ID" = 1 ] || exec sleep 900\n')
    until(lambda: state("gpu01") == f"vision.{array}", 180, "the last element holds the node")
    looks: list[str] = []

    def looked_twice() -> bool:
        looks.append(ssh("gpu01", "systemctl show --value --property=InvocationID drawbridge-gate.service"))
        return len(set(looks)) > 2

    until(looked_twice, 180, "the node's timer has looked at it twice")
    assert state("gpu01") == f"vision.{array}"
    ssh("ctl", f"scancel {array}")
    until(usable, 180, "closed")


def test_a_cancelled_job_takes_its_pods_along_and_a_process_on_a_gpu_keeps_its_node_dirty() -> None:
    job = sbatch("-w gpu01,gpu02 --output=/dev/null", pods_for("600", stubborn=True))
    until(lambda: len(pods()) == 2, 180, "both pods run")
    assert {state(node) for node in PAIR} == {f"vision.{job}"}
    with ghost("gpu01") as pid:
        ssh("ctl", f"scancel {job}")
        until(lambda: f"process {pid} (python3) uses a GPU: end it" in reason("gpu01"), 180, "drained, with the cause")
        assert state("gpu01") == f"dirty_vision.{job}"
        until(lambda: state("gpu02") == "closed", 180, "gpu02 closed")
        assert not kube().list_namespaced_pod("vision").items
    until(usable, 180, "both nodes in service, without a person")
    for node in PAIR:
        assert not ssh(node, "pgrep -u ada -f time.sleep || true")
        assert not ssh(node, f"ls /run/drawbridge/jobs/{job} 2>/dev/null || true")


def time_runs_out(job: str) -> None:
    # not endtime=now: Slurm refuses it when a second has passed before slurmctld reads it
    ssh("ctl", f"scontrol update jobid={job} timelimit=1")


def an_urgent_job_comes(job: str) -> None:
    quiet("-q urgent -N2 -w gpu01,gpu02 --no-requeue", user="ben")


@pytest.mark.parametrize(("end", "how"), [(time_runs_out, "TIMEOUT"), (an_urgent_job_comes, "PREEMPTED")])
def test_a_job_that_slurm_ends_takes_its_pods_along(end: Callable[[str], None], how: str) -> None:
    begin, known = time.time(), audited()
    job = sbatch("-w gpu01,gpu02 --no-requeue --output=/dev/null", pods_for("600", stubborn=True))
    until(lambda: len(pods()) == 2, 180, "both pods run")
    end(job)
    until(lambda: job_state(job) == how, 180, f"Slurm ends the job: {how}")
    until(lambda: usable() and not ssh("ctl", "squeue -h"), 180, "both nodes in service, without a person")
    assert outcome(list(log.writes(audit(known))), time.time() - begin).wrong == []


def test_a_job_without_pods_does_not_start_beside_a_process_on_a_gpu() -> None:
    with ghost("gpu02") as pid:
        job = sbatch("-p hpc -N1 -w gpu02 --output=/dev/null")
        told = f"drawbridge gate: process {pid} (python3) uses a GPU: end it"
        until(lambda: reason("gpu02") == told, 180, "gpu02 drained, with the cause")
        until(lambda: job_state(job) == "PENDING", 180, "its prolog sent it back")
        ssh("ctl", f"scancel {job}")
    until(usable, 180, "in service, without a person")


def test_an_interactive_job_ends_with_the_cause() -> None:
    with api_down():
        said = ssh("ctl", "cd /; runuser -u ada -- srun -p ai-train -N1 -w gpu03 true 2>&1 || true")
    assert "drawbridge gate: the API server at" in said, said


def test_a_node_that_a_dead_job_left_is_drained_and_the_others_close_again() -> None:
    # a run that is under way would still close the node
    ssh("gpu02", "systemctl stop drawbridge-gate.timer drawbridge-gate.service")
    move(glass(), "gpu02", "dirty_vision.99999")
    # in what scontrol shows of the job, its own name stands before the comment
    forged = "x\n   AdminComment=drawbridge gate: try 4 of 5 (run 0): forged"
    job = quiet(f"-N2 -w gpu01,gpu02 --job-name='{forged}'")
    try:
        until(lambda: "dirty_vision.99999" in comment(job), 180, "the cause in AdminComment")
        assert comment(job).startswith("drawbridge gate: try 1 of 5 (run 0): node gpu02 is not closed")
        assert reason("gpu02").startswith("drawbridge gate: is not closed")
        until(lambda: state("gpu01") == "closed", 180, "the other node closed")
        until(lambda: "BeginTime" in ssh("ctl", f"scontrol show job {job}"), 180, "requeued with a start time")
    finally:
        ssh("ctl", f"scancel {job}")
        ssh("gpu02", "systemctl start drawbridge-gate.timer")
    until(usable, 180, "the left node closed itself, our drain lifted")


@pytest.mark.parametrize("toleration", [{"operator": "Exists"}, {"key": TAINT, "operator": "Exists"}])
def test_only_infrastructure_tolerates_the_taint(toleration: dict[str, str]) -> None:
    spec = {"containers": [{"name": "x", "image": "x"}], "tolerations": [toleration]}
    with pytest.raises(ApiException, match="only infrastructure tolerates"):
        kube().create_namespaced_pod("default", {"metadata": {"name": "x"}, "spec": spec})


def lifetime(token: str) -> int:
    """The seconds that a token is good for, by its own words."""
    payload = token.split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims["exp"] - claims["iat"]


@pytest.mark.parametrize(("host", "files"), [("ctl", ("opener", "reconciler")), ("gpu01", ("node",))])
def test_hosts_hold_short_tokens_and_no_kubeconfig(host: str, files: tuple[str, ...]) -> None:
    assert ssh(host, "cd /var/lib/drawbridge/gate && ls *.token").split() == [f"{name}.token" for name in files]
    assert ssh(host, "stat -c %a /var/lib/drawbridge/gate/*.token").split() == ["400"] * len(files)
    tokens = ssh(host, f"find {OURS} -type f -name '*token' -exec sh -c 'cat $1; echo' - {{}} \\;").split()
    assert len(tokens) >= len(files)
    assert [seconds for token in tokens if not 0 < (seconds := lifetime(token)) <= DAY_S] == []
    # a file that is replaced under it makes grep end as if it had failed
    assert ssh(host, f"grep -rslE 'client-key-data|kubernetes-admin' {OURS} || true") == ""
    assert ssh(host, f"grep -rsl api_server {OURS} || true") != "", "it finds what is there"
