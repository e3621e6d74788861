# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A real kubelet on a pretended two-socket GPU server: what it gives out, and the mistake that single-numa-node is.

One lab for the whole file. That everything else joins and runs is seen by all scenarios.
"""

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

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
    """The administrator's client of a lab with a controller and a GPU node."""
    try:
        lab("up", "ctl", "gpu01")
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
