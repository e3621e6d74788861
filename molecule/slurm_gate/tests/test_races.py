# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Pods that are bound to nodes which their job has left, on purpose; long_gate.py leaves it to chance, 200 times.

The API server looks at no taint when it binds. What keeps such pods from running is the kubelet.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiException

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.states import Owner
from tests.races import audit as log
from tests.races.race import GID, REFUSED, SPACE, UID, outcome, workload
from tests.stack import (
    NODES,
    PATIENT,
    all_usable,
    api_client,
    audit,
    audited,
    bind,
    kube,
    pods,
    quiet,
    ssh,
    state,
    until,
)

PAIR = ("gpu01", "gpu02")
POLICY = "tests-nothing-is-deleted"

pytestmark = pytest.mark.usefixtures("impatient", "usable_before")


@pytest.fixture
def asleep() -> Iterator[None]:
    """The scheduler sleeps, and what waits for it goes in the end."""
    ssh("ctl", "systemctl kill -s STOP kube-scheduler")
    try:
        yield
    finally:
        ssh("ctl", "systemctl kill -s CONT kube-scheduler; scancel -u ada")
        until(lambda: all_usable(NODES), 180, "closed")


@contextlib.contextmanager
def undeletable(pod: str) -> Iterator[None]:
    """No pod and no Job of the namespace is deleted meanwhile, as if the gate had stopped after its first step."""
    rules = [
        {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": [resource]}
        for group, resource in (("", "pods"), ("batch", "jobs"))
    ]
    meta = {"name": POLICY}
    policy = {"matchConstraints": {"resourceRules": rules}, "validations": [{"expression": "false"}]}
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SPACE}}}
    binding = {"policyName": POLICY, "validationActions": ["Deny"], "matchResources": here}
    api: Any = client.AdmissionregistrationV1Api(api_client())
    api.create_validating_admission_policy({"metadata": meta, "spec": policy})
    try:
        api.create_validating_admission_policy_binding({"metadata": meta, "spec": binding})
        until(lambda: kept(pod), 120, "the policy is in force")
        yield
    finally:
        api.delete_validating_admission_policy(POLICY)
        api.delete_validating_admission_policy_binding(POLICY)


def kept(pod: str) -> bool:
    """Whether the API server would refuse to delete it."""
    try:
        kube().delete_namespaced_pod(pod, SPACE, dry_run="All")
    except ApiException as refused:
        return POLICY in str(refused.body)
    return False


def test_pods_that_are_bound_to_nodes_which_their_job_has_left_never_run(asleep: None) -> None:
    """gpu01's kubelet starts after the job's end and knows of it. gpu02's may start what it then ends."""
    begin, known = time.time(), audited()
    job = quiet("-w gpu01,gpu02", PATIENT)
    account = identity.name(int(job), UID, GID)
    own: Any = client.BatchV1Api(api_client(f"system:serviceaccount:{SPACE}:{account}", "system:serviceaccounts"))
    body = workload(Owner(SPACE, int(job)), account, 0)
    until(lambda: own.create_namespaced_job(SPACE, body), 180, "the job's rights are in force")
    late = until(lambda: len(found := pods(phase="Pending", job=job)) == 2 and found, 180, "its pods wait for nodes")
    with undeletable(late[0]):
        ssh("ctl", f"scancel {job}")
        until(lambda: {state(node) for node in PAIR} == {f"dirty_vision.{job}"}, 180, "its nodes are dirty")
        ssh("gpu01", "systemctl stop kubelet")
        for pod, node in zip(late, PAIR, strict=True):
            bind(SPACE, pod, node)
        ssh("gpu01", "systemctl start kubelet")
        status = until(lambda: ended(late[0]), 180, "gpu01's kubelet has heard of the pod")
        assert (status.reason, status.container_statuses) == (REFUSED, None)
    until(lambda: all_usable(NODES), 180, "all nodes closed and in service, without a person")
    found = outcome(list(log.writes(audit(known))), time.time() - begin)
    assert (found.bound, found.late, found.wrong) == (2, 2, [])


def ended(pod: str) -> Any:
    """Its status, once its kubelet has refused or run it."""
    status = kube().read_namespaced_pod(pod, SPACE).status
    return status if status.phase != "Pending" or status.container_statuses else None
