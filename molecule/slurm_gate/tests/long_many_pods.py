# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Many small pods of one job: `LAB_ID=59 pytest molecule/slurm_gate/tests/long_many_pods.py`, in the scenario's lab."""

from __future__ import annotations

import time
from typing import Any

import pytest
from kubernetes import client

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.states import Owner
from tests.races import race
from tests.stack import NODES, PATIENT, all_usable, api_client, finish, job_state, kube, patient, quiet, state, until

MANY = 200

pytestmark = pytest.mark.usefixtures("usable_before")


def test_two_hundred_small_pods_of_one_job_run_and_go_within_the_bounds() -> None:
    job = quiet("-N2 -w gpu01,gpu02", PATIENT)
    owner = Owner(race.SPACE, int(job))
    account = identity.name(owner.job, race.UID, race.GID)
    until(lambda: patient(job, "gpu01"), 180, "its script listens")
    body = race.workload(owner, account, 0)
    body["spec"] |= {"parallelism": MANY, "completions": MANY}
    body["spec"]["template"]["spec"]["containers"][0]["command"] = ["/bin/busybox", "true"]
    batch: Any = client.BatchV1Api(api_client(f"system:serviceaccount:{race.SPACE}:{account}", "system:authenticated"))
    until(lambda: batch.create_namespaced_job(race.SPACE, body), 60, "its rights are in force")
    begun = time.monotonic()
    looker: Any = client.BatchV1Api(api_client())

    def succeeded() -> bool:
        return looker.read_namespaced_job(body["metadata"]["name"], race.SPACE).status.succeeded == MANY

    until(succeeded, 1800, "all pods have come to a good end")
    print(f"{MANY} pods in {time.monotonic() - begun:.0f} s")
    begun = time.monotonic()
    finish(job)
    until(lambda: job_state(job) == "COMPLETED", 300, "the job is over")
    until(lambda: [state(node) for node in NODES[:2]] == ["closed", "closed"], 300, "its nodes are closed")
    print(f"closed in {time.monotonic() - begun:.0f} s")
    until(lambda: not kube().list_namespaced_pod(race.SPACE).items, 300, "no pod is left")
    until(lambda: all_usable(NODES), 300, "in service")
