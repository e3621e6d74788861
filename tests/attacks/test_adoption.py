# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node that Kubernetes has used so far becomes the gate's, before any policy is there. On a real API server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.kube_api import connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.adapters.kube_cluster import KubeCluster
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.converge import converge
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.plans.adoption import (
    ClusterUse,
    NodeUse,
    faults,
    plan,
)

from lab.hosts.paths import Paths
from tests.attacks.client import Client, Json, path_of
from tests.attacks.scene import DEPLOYER, until

pytestmark = pytest.mark.live

NODE = "used01"
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


@pytest.fixture
def used(client: Client) -> Iterator[KubeCluster]:
    """A node with a pod of a shop and one of infrastructure."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}}
    client.apply(path_of(node), node, DEPLOYER)
    client.apply("/api/v1/namespaces/shop", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    for body in (pod("shop"), pod("kube-system")):
        account = f"/api/v1/namespaces/{body['metadata']['namespace']}/serviceaccounts/default"
        until(lambda account=account: client.ask("GET", account).status == 200, "the namespace's account")
        client.apply(path_of(body), body, DEPLOYER)
    yield KubeCluster(connect(str(Paths.of().kubeconfig)), WANT.nodes, ["kube-system"], [], 120)
    for body in (pod("kube-system"), node):
        client.ask("DELETE", path_of(body))


def test_a_used_node_is_refused_then_emptied_and_closed(client: Client, used: KubeCluster) -> None:
    assert used.items("/apis/nvidia.com/v1/clusterpolicies") == [], "a kind that the cluster does not know"
    (sentence,) = faults(used.read(), evict=False)
    assert sentence.startswith(f"{NODE} runs pod shop/here, and")
    predicted = converge(used, plan, WANT, check=True)
    done = converge(used, plan, WANT)
    assert (
        done.steps == predicted.steps == [f"evict shop/here from {NODE}", f"close {NODE}: drawbridge.io/slurm=closed"]
    )
    assert not done.error and done.diff == predicted.diff
    keys = {taint["key"] for taint in client.ask("GET", f"/api/v1/nodes/{NODE}").body["spec"]["taints"]}
    assert "drawbridge.io/slurm" in keys and "drawbridge.io/adopting" not in keys
    assert client.ask("GET", path_of(pod("shop"))).status == 404
    assert client.ask("GET", path_of(pod("kube-system"))).status == 200
    assert converge(used, plan, WANT).steps == []
