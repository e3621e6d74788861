# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real API server, a real kubelet and real containers on a pretended two-socket GPU server.

One lab for the whole file; its tests tell one story, from the first boot to the mistake that single-numa-node is.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from lab.tools import build
from tests.waiting import until

REPOSITORY = Path(__file__).resolve().parents[3]
LAB_ID = str(int(os.environ.get("LAB_ID", "90")) + 1)
"""The second of the two numbers that tests/lab/test_hosts_live.py takes."""
ADA = 2001
STATE = Path(os.environ.get("LAB_STATE", "/var/lib/drawbridge-lab")) / LAB_ID
CLOSED = {"key": "drawbridge.io/slurm", "value": "closed", "effect": "NoSchedule"}
STATE_FILES = "/var/lib/kubelet/cpu_manager_state /var/lib/kubelet/memory_manager_state"

CHECKPOINT = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"

pytestmark = pytest.mark.live


def lab(*arguments, check=True):
    environment = {**os.environ, "LAB_ID": LAB_ID, "LAB_KUBELETS": "joined"}
    return subprocess.run([REPOSITORY / "lab/lab", *arguments], env=environment, check=check, timeout=900)


def guest(host, script, stdin=""):
    """Run a shell script as root in a host and return what it printed."""
    command = ["ssh", "-F", STATE / "ssh_config", f"root@{host}", script]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{script}: {done.stderr}"
    return done.stdout


UP = ["active", "active"]
PATIENCE_S = 300


def drop_in(policy):
    """Return what the role kubelet_numa will write: the reservations add up to 8Gi + 4Gi + 100Mi."""
    return yaml.safe_dump(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "registerWithTaints": [CLOSED],
            "topologyManagerPolicy": policy,
            "topologyManagerScope": "pod",
            "cpuManagerPolicy": "static",
            "reservedSystemCPUs": "0-3,64-67",
            "memoryManagerPolicy": "Static",
            "systemReserved": {"memory": "8Gi"},
            "kubeReserved": {"memory": "4Gi"},
            "evictionHard": {"memory.available": "100Mi"},
            "reservedMemory": [
                {"numaNode": 0, "limits": {"memory": "6244Mi"}},
                {"numaNode": 1, "limits": {"memory": "6144Mi"}},
            ],
        }
    )


def start_kubelet(policy):
    """Start gpu01's kubelet under a policy, as a change of policy has to be done, and wait for its devices.

    Its notes of them are removed before: plugins listen before they register, and its Node tells of those of before.
    """
    path = "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"
    restart = f"systemctl stop kubelet && rm -f {STATE_FILES} {CHECKPOINT} && systemctl start kubelet"
    guest("gpu01", f"cat > {path} && {restart}", drop_in(policy))
    until(knows_all_devices, PATIENCE_S, "the kubelet knows all devices")


def knows_all_devices():
    """Whether the kubelet has taken the GPUs, and every rail, since its start."""
    noted = guest("gpu01", f"cat {CHECKPOINT}")
    return all(f'"{name}":["' in noted for name in ("nvidia.com/gpu", *(f"rdma/rail{rail}" for rail in range(8))))


WHOLE_NODE = {"nvidia.com/gpu": "8", "cpu": "120", "memory": "1900Gi", "rdma/rail0": "1"}
HALF_NODE = {"nvidia.com/gpu": "4", "cpu": "56", "memory": "900Gi"}


def pod(name, limits=WHOLE_NODE, **spec):
    """Describe a Guaranteed pod of ada's on gpu01 that prints its uid and its GPUs."""
    container = {
        "name": "main",
        "image": "docker.io/lab/python:3",
        "imagePullPolicy": "Never",
        "command": ["python3", "-c", "import os; print(os.getuid(), os.environ['NVIDIA_VISIBLE_DEVICES'])"],
        "resources": {"limits": limits},
    }
    whole = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "nodeSelector": {"kubernetes.io/hostname": "gpu01"},
        "securityContext": {"runAsUser": ADA, "runAsGroup": 3001, "supplementalGroupsPolicy": "Strict"},
        "containers": [container],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": whole | spec}


TOLERANT = {"tolerations": [{**CLOSED, "operator": "Equal"}]}


@pytest.fixture(scope="module")
def api():
    """The administrator's client of a lab with a controller, a GPU node and an ordinary node."""
    try:
        lab("up", "ctl", "gpu01", "infra1")
        with config.new_client_from_config(str(STATE / "kubernetes/admin.kubeconfig")) as connection:
            yield client.CoreV1Api(connection)
    finally:
        lab("down", check=False)


@pytest.fixture(scope="module")
def closed_node(api):
    """gpu01, its kubelet started as Drawbridge will: born closed, with the policy that we chose."""
    start_kubelet("best-effort")
    return until(lambda: gpus(api, "8"), PATIENCE_S, "gpu01 is ready with its devices")


def ready(api, name):
    try:
        node = api.read_node(name)
    except ApiException as error:
        assert error.status == 404
        return None
    up = any(condition.type == "Ready" and condition.status == "True" for condition in node.status.conditions)
    waits = any(taint.key.startswith("node.kubernetes.io/") for taint in node.spec.taints or [])
    return node if up and not waits else None


def gpus(api, count):
    """Return gpu01's node once it is ready, and so many of its GPUs and all of its rails can be given out.

    Each resource has a plugin of its own, and the kubelet takes them in any order.
    """
    node = ready(api, "gpu01")
    wanted = {"nvidia.com/gpu": count} | {f"rdma/rail{rail}": "63" for rail in range(8)}
    return node if node and wanted.items() <= node.status.allocatable.items() else None


def capacity(api):
    return api.read_node("gpu01").status.capacity["nvidia.com/gpu"]


def phase(api, name, *wanted):
    status = api.read_namespaced_pod(name, "default").status
    return status if status.phase in wanted else None


def test_the_control_plane_is_up_when_the_lab_is(api):
    assert client.VersionApi(api.api_client).get_code().git_version == build.KUBERNETES
    # both end and start again when they are quicker than the API server
    asked = "systemctl is-active kube-scheduler kube-controller-manager || true"
    until(lambda: guest("ctl", asked).split() == UP, PATIENCE_S, "scheduler and controller manager run")
    assert guest("ctl", "helm version --short").startswith("v3.22")


def test_a_node_that_is_never_gated_joins_by_itself(api):
    assert until(lambda: ready(api, "infra1"), PATIENCE_S, "infra1 is ready").spec.taints is None


def test_a_gpu_node_is_not_born_before_its_taint_is_written(api):
    assert guest("gpu01", "systemctl is-active kubelet || true").strip() == "inactive"
    assert "gpu01" not in {node.metadata.name for node in api.list_node().items}


def test_the_guest_looks_like_a_gpu_server(api):
    seen = guest("gpu01", "cat /proc/cpuinfo /sys/class/infiniband/mlx5_5/device/numa_node; lscpu; ls /dev/nvidia*")
    assert seen.count("processor\t") == 128
    assert "NUMA node1 CPU(s):   64-127" in seen
    assert seen.count("/dev/nvidia") == 8
    assert guest("gpu01", "cat /sys/class/net/rail5/device/numa_node").strip() == "1"


def test_slurmd_sees_the_same_machine(api):
    """As the service sees it: in the unit's environment, which the lab wrote before the package came."""
    install = "apt-get update -qq && apt-get install --yes -qq --no-install-recommends slurmd"
    without_start = "printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d"
    guest("gpu01", f"{without_start} && {install}")
    seen = guest("gpu01", "env $(systemctl show slurmd --property=Environment --value) slurmd -C").split()
    machine = {"CPUs=128", "SocketsPerBoard=2", "CoresPerSocket=32", "ThreadsPerCore=2", "RealMemory=2064384"}
    assert machine <= set(seen)


def test_a_kubelet_with_our_drop_in_is_born_closed(closed_node):
    assert [(taint.key, taint.value, taint.effect) for taint in closed_node.spec.taints] == [tuple(CLOSED.values())]
    capacity = closed_node.status.capacity
    assert (capacity["cpu"], capacity["memory"], capacity["nvidia.com/gpu"]) == ("128", "2016Gi", "8")
    assert [resource for resource in capacity if resource.startswith("rdma/")] == [f"rdma/rail{n}" for n in range(8)]


def test_a_whole_node_pod_runs_as_its_user_and_tells_it(api, closed_node):
    api.create_namespaced_pod("default", pod("whole-node", **TOLERANT))
    until(lambda: phase(api, "whole-node", "Succeeded"), PATIENCE_S, "the pod ran")
    uid, devices = api.read_namespaced_pod_log("whole-node", "default").split()
    assert uid == str(ADA)
    assert devices == ",".join(f"GPU-{gpu}" for gpu in range(8))
    api.delete_namespaced_pod("whole-node", "default")


def test_half_a_node_is_one_socket(api, closed_node):
    api.create_namespaced_pod("default", pod("half-node", HALF_NODE, **TOLERANT))
    until(lambda: phase(api, "half-node", "Succeeded"), PATIENCE_S, "the pod ran")
    devices = api.read_namespaced_pod_log("half-node", "default").split()[1].split(",")
    assert devices in (["GPU-0", "GPU-1", "GPU-2", "GPU-3"], ["GPU-4", "GPU-5", "GPU-6", "GPU-7"])
    api.delete_namespaced_pod("half-node", "default")


def test_a_pod_without_the_toleration_waits_and_is_told_why(api, closed_node):
    api.create_namespaced_pod("default", pod("stranger"))

    def told():
        return (api.read_namespaced_pod("stranger", "default").status.conditions or [None])[0]

    assert "untolerated taint" in until(told, PATIENCE_S, "the scheduler tells why").message
    api.delete_namespaced_pod("stranger", "default")


def test_a_gpu_that_fails_is_not_given_out(api, closed_node):
    control = "/var/lib/lab/deviceplugin/control.json"
    guest("gpu01", f"mkdir -p $(dirname {control}); cat > {control}", '{"nvidia.com/gpu": {"GPU-3": "unhealthy"}}')
    node = until(lambda: gpus(api, "7"), PATIENCE_S, "a GPU less can be given out")
    assert node.status.capacity["nvidia.com/gpu"] == "8"
    guest("gpu01", f"cat > {control}", '{"nvidia.com/gpu": {"GPU-3": "absent"}}')
    until(lambda: capacity(api) == "7", PATIENCE_S, "the node has a GPU less")
    guest("gpu01", f"rm {control}")
    until(lambda: gpus(api, "8"), PATIENCE_S, "all GPUs are back")


def test_single_numa_node_never_runs_a_whole_node_pod(api, closed_node):
    """The pod that best-effort ran needs GPUs of both sockets, so this policy refuses it every time."""
    start_kubelet("single-numa-node")
    until(lambda: gpus(api, "8"), PATIENCE_S, "gpu01 is ready with its devices")
    api.create_namespaced_pod("default", pod("whole-node-again", **TOLERANT))
    status = until(lambda: phase(api, "whole-node-again", "Failed", "Succeeded"), PATIENCE_S, "the pod ended")
    assert (status.phase, status.reason) == ("Failed", "TopologyAffinityError")


def test_the_api_server_writes_down_who_changed_what(api, closed_node):
    """Tests of the gate judge by it: writes of nodes and pods with their objects, and nothing that is only read.

    A write is written down when it has been answered, which may be after others have written to the same pod; the last
    line may not be whole yet.
    """
    api.create_namespaced_pod("default", pod("audited"))
    api.delete_namespaced_pod("audited", "default", grace_period_seconds=0)

    def written() -> list[dict]:
        *whole, _half = guest("ctl", "cat /var/log/kubernetes-audit.log").split("\n")
        return [json.loads(line) for line in whole]

    def told() -> dict:
        return {line["verb"]: line for line in written() if line["objectRef"].get("name") == "audited"}

    until(lambda: {"create", "delete"} <= told().keys(), PATIENCE_S, "both writes are written down")
    assert [told()[verb]["user"]["username"] for verb in ("create", "delete")] == ["kubernetes-admin"] * 2
    assert told()["create"]["responseObject"]["metadata"]["resourceVersion"]
    lines = written()
    assert {line["objectRef"]["resource"] for line in lines} == {"nodes", "pods", "serviceaccounts"}
    assert not [line for line in lines if line["objectRef"].get("subresource") == "token"]
    assert not {line["verb"] for line in lines} & {"get", "list", "watch"}
