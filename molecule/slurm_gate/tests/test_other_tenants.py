# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What others of the same hosts and the same cluster try on a node that is not theirs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from roles.slurm_gate.files.gate import identity
from roles.slurm_gate.files.gate.gate_names import GATE_ACCOUNTS, INFRA, PLATFORM
from roles.slurm_gate.files.gate.states import Owner
from tests.running import Lab
from tests.stack import (
    NODES,
    PATHS,
    all_usable,
    comment,
    job_state,
    kube,
    quiet,
    reason,
    sbatch,
    ssh,
    state,
    until,
)

LAB = Lab(PATHS)
AS_PLATFORM = ("--as=drawbridge", f"--as-group={PLATFORM}", "--as-group=system:masters")
HOSTS = ("--limit", "ctl,gpu01,gpu02,gpu03,gpu04,localhost")
LOCKS = ("/run/drawbridge/slurm-dispatch.lock", "/run/drawbridge/slurm-health.lock")
TOKENS = "/var/lib/drawbridge/gate"

pytestmark = pytest.mark.usefixtures("impatient", "usable_before")


def usable() -> bool:
    return all_usable(NODES)


@pytest.mark.parametrize("lock", LOCKS)
def test_only_root_holds_what_scripts_wait_for(lock: str) -> None:
    """Whoever may open a file may lock it: all prologs of the node would wait."""
    job = sbatch("-p hpc -N1 -w gpu01 --output=/dev/null")
    until(lambda: job_state(job) == "COMPLETED", 180, "a prolog has made its lock")
    ssh("gpu01", f"test -e {lock} || SLURMD_NODENAME=gpu01 /usr/local/libexec/drawbridge/slurm-health")
    said = ssh("gpu01", f"runuser -u ada -- flock --nonblock {lock} true 2>&1 || true")
    assert "Permission denied" in said, said


def test_links_do_not_mislead_the_service_that_renews_tokens() -> None:
    """Its directory is Slurm's user's, who runs PrologSlurmctld: root would follow the links that stand there."""
    shown = ssh("ctl", "systemctl show --property=User,NoNewPrivileges,ProtectSystem drawbridge-gate.service")
    assert sorted(shown.split()) == ["NoNewPrivileges=yes", "ProtectSystem=strict", "User=slurm"]
    as_slurm = f"cd {TOKENS} && mv opener.token kept && ln -s /root/precious opener.token"
    ssh("ctl", "echo precious > /root/precious; chmod 600 /root/precious")
    ssh("ctl", f"runuser -u slurm -- sh -c {shlex.quote(as_slurm)}")
    try:
        ssh("ctl", "systemctl start drawbridge-gate.service || true")
        assert ssh("ctl", "cat /root/precious; stat -c '%U %a' /root/precious").split() == ["precious", "root", "600"]
    finally:
        ssh("ctl", f"cd {TOKENS} && mv kept opener.token && systemctl start drawbridge-gate.service")


def test_a_process_names_itself_as_it_likes() -> None:
    """A line break in its name made the driver's list unreadable, so that nothing could be proven."""
    program = (
        "import ctypes, os, time; ctypes.CDLL(None).prctl(15, b'a\\n1, b', 0, 0, 0); "
        "os.open('/dev/nvidia3', os.O_PATH); time.sleep(900)"
    )
    ssh("gpu02", f"nohup runuser -u ben -- python3 -c {shlex.quote(program)} >/dev/null 2>&1 &")
    try:
        pid = until(lambda: ssh("gpu02", "pgrep -o -u ben"), 120, "it holds a GPU's device file")
        job = sbatch("-p hpc -N1 -w gpu02 --output=/dev/null")
        until(lambda: "process" in reason("gpu02"), 180, "gpu02 drained, with the cause")
        assert reason("gpu02") == f"drawbridge gate: process {pid} (a?1, b) uses a GPU: end it"
        ssh("ctl", f"scancel {job}")
    finally:
        ssh("gpu02", "pkill -u ben")
    until(usable, 180, "in service, without a person")


SHOP = """
apiVersion: v1
kind: Pod
metadata: {name: cart, namespace: shop}
spec:
  nodeName: gpu01
  hostNetwork: true
  terminationGracePeriodSeconds: 1
  tolerations: [{operator: Exists}]
  containers: [{name: cart, image: "docker.io/lab/pause:1", imagePullPolicy: Never}]
"""


@pytest.fixture
def foreign() -> Iterator[str]:
    """A pod on gpu01 that is of no tenant: its namespace was infrastructure when it came, and is no more."""
    LAB.kubectl("create", "namespace", "shop")
    try:
        LAB.kubectl(*AS_PLATFORM, "label", "namespace", "shop", f"{INFRA}=true")
        until(lambda: LAB.kubectl("-n", "shop", "get", "serviceaccount", "default"), 120, "the namespace is complete")
        until(lambda: LAB.kubectl("apply", "-f", "-", stdin=SHOP), 120, "it is let in")
        phase = ("-n", "shop", "get", "pod", "cart", "-o", "jsonpath={.status.phase}")
        until(lambda: LAB.kubectl(*phase) == "Running", 120, "it runs")
        LAB.kubectl(*AS_PLATFORM, "label", "namespace", "shop", f"{INFRA}-")
        yield "shop/cart"
    finally:
        LAB.kubectl(*AS_PLATFORM, "delete", "namespace", "shop")


@pytest.mark.parametrize("partition", ["hpc", "ai-train"])
def test_no_job_starts_beside_a_foreign_pod(foreign: str, partition: str) -> None:
    job = sbatch(f"-p {partition} -N1 -w gpu01 --output=/dev/null", "#!/bin/sh\nsleep 600\n")
    until(lambda: "container" in reason("gpu01"), 180, "gpu01 drained, with the cause")
    assert "still runs: end it with its pod" in reason("gpu01")
    until(lambda: job_state(job) == "PENDING", 180, "its prolog sent it back")
    ssh("ctl", f"scancel {job}")
    run = LAB.playbook("gate", *HOSTS, "--check")
    assert run.code and f"gpu01 runs pod {foreign}, and a gated node is Slurm's" in run.output, run.output
    kube().delete_namespaced_pod("cart", "shop", grace_period_seconds=1)
    until(usable, 180, "in service, without a person")


def test_a_number_that_slurm_gives_twice_opens_nothing_while_the_first_ones_identity_lives() -> None:
    last = int(quiet("-N1 -w gpu04", "#!/bin/sh\ntrue\n"))
    until(usable, 180, "closed")
    ssh("ctl", "systemctl stop drawbridge-gate.timer drawbridge-gate.service")  # it would end what no job has
    former = Owner("speech", last + 1)
    (_, account), *_ = identity.objects(former, identity.name(former.job, 2003, 3002), ["gpu04"])
    opener = kube(f"{GATE_ACCOUNTS}opener", "system:serviceaccounts:drawbridge-gate")
    opener.create_namespaced_service_account("speech", account)
    try:
        job = quiet("-N1 -w gpu04", "#!/bin/sh\nsleep 600\n")
        assert int(job) == former.job
        until(lambda: "of another job with this number still exists" in comment(job), 180, "refused")
        assert state("gpu04") == "closed"
    finally:
        ssh("ctl", f"scancel {former.job}; systemctl start drawbridge-gate.timer")
    until(lambda: not _left(former), 180, "the timer ends what no job has")


def _left(owner: Owner) -> list[str]:
    items = kube().list_namespaced_service_account(owner.namespace).items
    return [item.metadata.name for item in items if item.metadata.name.startswith(owner.prefix)]


def test_a_job_that_its_node_has_not_closed_lets_no_other_start_there() -> None:
    """Of either kind; that the node is held, only Kubernetes knows, and a prolog of the other kind never asks it."""
    ssh("gpu03", "systemctl stop drawbridge-gate.timer drawbridge-gate.service; mkdir -p /run/drawbridge/jobs/424242")
    try:
        job = sbatch("-p hpc -N1 -w gpu03 --output=/dev/null")
        told = "drawbridge gate: job 424242 has not been closed here yet"
        until(lambda: reason("gpu03") == told, 180, "gpu03 drained, with the cause")
        ssh("ctl", f"scancel {job}")
    finally:
        ssh("gpu03", "systemctl start drawbridge-gate.timer")
    until(usable, 180, "the timer has found nothing of it, and lifted the drain")


@pytest.fixture
def bound() -> Iterator[None]:
    """A tenant has the stock role edit, from before there was a gate."""
    create = ("-n", "vision", "create", "rolebinding", "devs", "--clusterrole=edit", "--user=mallory")
    assert LAB.kubectl(*create, check=False) == "", "nobody binds it while the gate is there"
    LAB.kubectl(*AS_PLATFORM, *create)
    try:
        yield
    finally:
        LAB.kubectl("-n", "vision", "delete", "rolebinding", "devs", "tenants", "--ignore-not-found")


def test_turning_the_gate_on_where_tenants_have_the_role_edit(bound: None) -> None:
    """As docs/guides/adopting.md says: find the bindings, replace them, turn the gate on."""
    refused = LAB.playbook("gate", *HOSTS, "--check")
    assert refused.code and "RoleBinding vision/devs gives ClusterRole edit to User mallory" in refused.output
    LAB.kubectl("-n", "vision", "create", "rolebinding", "tenants", "--clusterrole=drawbridge-tenant", "--user=mallory")
    LAB.kubectl("-n", "vision", "delete", "rolebinding", "devs")
    can = ("-n", "vision", "--as=mallory", "auth", "can-i")
    assert LAB.kubectl(*can, "create", "secrets").strip() == "yes"
    assert LAB.kubectl(*can, "impersonate", "serviceaccounts", check=False).strip() == "no"
    done = LAB.playbook("gate", *HOSTS)
    assert done.code == 0, done.output
