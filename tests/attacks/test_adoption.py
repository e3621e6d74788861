# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that Kubernetes has used so far becomes the gate's, with the policies in force. On a real API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import converge, refusals
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.io import KubeCluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.gate.adoption.plan import (
    ClusterUse,
    NodeUse,
    plan,
)

from lab.hosts.paths import Paths
from tests import installer
from tests.attacks.client import APPLY, Client, Json, Who, path_of
from tests.attacks.scene import ADMIN, Scene, until

pytestmark = pytest.mark.live

NODE = "used01"
GLASS = Who("gil", ("drawbridge:breakglass", "system:masters"))
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
WANT = ClusterUse({NODE: NodeUse(True), "absent01": NodeUse(True)})


def pod(namespace: str, **spec: object) -> Json:
    container = {"name": "x", "image": "x"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "here", "namespace": namespace},
        # no kubelet is there to end it
        "spec": {"nodeName": NODE, "terminationGracePeriodSeconds": 0, "containers": [container], **spec},
    }


def applied(client: Client, body: Json) -> bool:
    path = f"{path_of(body)}?fieldManager=attacks&force=true"
    return client.ask("PATCH", path, body, None, APPLY).status < 300


def waits(namespace: str) -> Json:
    """A pod that tolerates everything and has no node yet."""
    body = pod(namespace, tolerations=[{"operator": "Exists"}])
    del body["spec"]["nodeName"]
    return {**body, "metadata": {"name": "waits", "namespace": namespace}}


@pytest.fixture
def used(client: Client, scene: Scene) -> Iterator[KubeCluster]:
    """A node with a pod of a shop and one of infrastructure, and a pod that may land anywhere: older than policies."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    client.apply(path_of(node), node, GLASS)
    client.apply("/api/v1/namespaces/shop", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "shop"}}
    client.apply(path_of(account), account)
    elsewhere = f"{BINDINGS}/drawbridge-elsewhere"
    binding = client.ask("GET", elsewhere).body
    client.ask("DELETE", elsewhere)
    for body in (pod("shop"), pod("kube-system"), waits("shop")):
        until(lambda body=body: applied(client, body), "the policy is in force no more")
    made = {key: binding[key] for key in ("apiVersion", "kind", "spec")}
    client.apply(elsewhere, {**made, "metadata": {"name": "drawbridge-elsewhere"}}, ADMIN)
    ask = connect(str(Paths.of().installer_kubeconfig))
    yield KubeCluster(ask, WANT.nodes, ["kube-system"], ["vision"], 120)
    for body in (pod("kube-system"), node):
        client.ask("DELETE", path_of(body))


def test_a_used_node_is_refused_then_emptied_and_closed(client: Client, used: KubeCluster) -> None:
    assert used.items("/apis/nvidia.com/v1/clusterpolicies") == [], "a kind that the cluster does not know"
    waiting, running = refusals(plan(used.read(), WANT), {})
    assert waiting.startswith("pod shop/waits has no node yet and tolerates closed ones")
    assert running.startswith(f"{NODE} runs pod shop/here, and")
    predicted = converge(used, plan, WANT, check=True, options={"evict": True})
    done = converge(used, plan, WANT, options={"evict": True})
    assert done.steps == [
        "evict shop/waits, which has no node and tolerates closed ones",
        f"evict shop/here from {NODE}",
        f"close {NODE}: drawbridge.io/slurm=closed",
    ]
    assert done.steps == predicted.steps
    assert not done.error and done.diff == predicted.diff
    keys = {taint["key"] for taint in client.ask("GET", f"/api/v1/nodes/{NODE}").body["spec"]["taints"]}
    assert "drawbridge.io/slurm" in keys and "drawbridge.io/adopting" not in keys
    assert client.ask("GET", path_of(pod("shop"))).status == 404
    assert client.ask("GET", path_of(waits("shop"))).status == 404
    assert client.ask("GET", path_of(pod("kube-system"))).status == 200
    assert converge(used, plan, WANT).steps == []
    assert installer.refused() == []
    assert installer.unused(installer.PROVEN_BY["attacks"]) == []
