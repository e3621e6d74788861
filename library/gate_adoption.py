#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Take over nodes that Kubernetes has used so far."""

DOCUMENTATION = r"""
module: gate_adoption
short_description: Close nodes that Kubernetes has used so far, once nobody's pods are there
version_added: 0.1.0
description:
  - Looks at nodes that have no state of the gate yet. A node that others use or that is cordoned is refused, unless
    O(evict) says that its pods may be evicted; then they are, with their budgets respected, and the node is closed.
  - Refuses operators and daemons that would drain, reboot or upgrade nodes under running jobs, unless O(accepted)
    names them.
  - Warns of DaemonSets of infrastructure that get no pod on gated nodes.
  - Runs where the kubeconfig is. A second run reads nodes and workloads, and changes nothing.
author: Drawbridge contributors
options:
  nodes:
    description: Nodes that are to be gated. One that is not there yet is born closed and needs no adoption.
    type: list
    elements: str
    required: true
  infra_namespaces:
    description: Namespaces whose pods may stay.
    type: list
    elements: str
    required: true
  kubeconfig:
    description: Kubeconfig of a person who may impersonate the group C(drawbridge:platform).
    type: path
    required: true
  evict:
    description: Others' pods may be evicted from nodes that are not gated yet.
    type: bool
    default: false
  accepted:
    description: Actors that may stay although they fight the gate, by the names that the refusal gives.
    type: list
    elements: str
    default: []
  timeout_s:
    description: How long evicted pods may take to end, all together, in seconds.
    type: float
    default: 600
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: Nodes with their state, and the pods that are in the way.
    support: full
"""

EXAMPLES = r"""
- name: Take over nodes that Kubernetes has used so far
  drawbridge.drawbridge.gate_adoption:
    nodes: [gpu01, gpu02]
    infra_namespaces: "{{ drawbridge_kube.infra_namespaces }}"
    kubeconfig: "{{ slurm_gate_kubeconfig }}"
  delegate_to: localhost
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Nothing; a node is taken over at once or not at all.
  returned: always
  type: list
  elements: str
intolerant:
  description: DaemonSets of infrastructure that get no pod on gated nodes, as sentences.
  returned: success
  type: list
  elements: str
faults:
  description: Why nodes can't be taken over, as sentences.
  returned: when they can't
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.adapters.kube_cluster import RESOURCES, KubeCluster, connect
from ..module_utils.drawbridge.converge import DeviceError
from ..module_utils.drawbridge.dialects.cluster_actors import intolerant, node_actors, setting_actors, workload_actors
from ..module_utils.drawbridge.module import finish
from ..module_utils.drawbridge.plans.adoption import ClusterUse, NodeUse, faults, plan

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "infra_namespaces": {"type": "list", "elements": "str", "required": True},
    "kubeconfig": {"type": "path", "required": True},
    "evict": {"type": "bool", "default": False},
    "accepted": {"type": "list", "elements": "str", "default": []},
    "timeout_s": {"type": "float", "default": 600},
}


def main() -> None:
    """Refuse what fights the gate, then wire the cluster to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    try:
        cluster = KubeCluster(
            connect(params["kubeconfig"]), params["nodes"], params["infra_namespaces"], params["timeout_s"]
        )
        found = faults(cluster.read(), params["evict"])
        daemons = cluster.items("/apis/apps/v1/daemonsets")
        found += _fights(cluster, daemons, params["accepted"])
    except DeviceError as err:
        return module.fail_json(msg=str(err), changed=False, **err.details)
    if found:
        module.fail_json(msg="Kubernetes uses nodes that are to be gated: " + "\n".join(found), faults=found)
    homeless = intolerant(daemons, params["infra_namespaces"])
    for sentence in homeless:
        module.warn(sentence)
    want = ClusterUse({name: NodeUse(True) for name in params["nodes"]})
    finish(module, cluster, plan, want, intolerant=homeless)


def _fights(cluster: KubeCluster, daemons: list, accepted: list) -> list:
    """Actors that nobody has accepted, with the line that does."""
    resources = [item for path in RESOURCES for item in cluster.items(path)]
    actors = [
        *workload_actors([*daemons, *cluster.items("/apis/apps/v1/deployments")]),
        *setting_actors(resources),
        *node_actors(cluster.found),
    ]
    return [
        f"{actor.sentence}, or set slurm_gate_accepted: {[*accepted, actor.name]}"
        for actor in actors
        if actor.name not in accepted
    ]


if __name__ == "__main__":
    main()
