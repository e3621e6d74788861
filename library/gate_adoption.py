#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gate_adoption action; it runs in the controller's own process, where the kubeconfig is."""

DOCUMENTATION = r"""
module: gate_adoption
short_description: Close nodes that Kubernetes has used so far, once nobody's pods are there
version_added: 0.1.0
description:
  - Looks at all nodes that are or will be gated, and at pods without a node that tolerate closed ones. Pods of others
    are refused, unless O(evict) says that they may be evicted; then they are, with their budgets respected. A node that
    has no state of the gate yet is closed after that; one that is cordoned is refused.
  - Closes nothing before the policies are in force that keep new pods away.
  - Refuses to go on while jobs run in a namespace that is no account's any more.
  - Refuses operators and daemons that would drain, reboot or upgrade nodes under running jobs, unless O(accepted)
    names them.
  - Refuses RoleBindings of other ClusterRoles than O(tenant_roles) in namespaces of jobs, and Roles there that reach
    jobs of others, unless O(accepted) names them; warns of ClusterRoleBindings that do.
  - Warns of DaemonSets of infrastructure that get no pod on gated nodes.
  - Runs in Ansible's own process. A second run reads nodes and workloads, and changes nothing.
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
  job_namespaces:
    description: Namespaces of jobs, whose own pods may stay.
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
  tenant_roles:
    description: ClusterRoles that may be bound in namespaces of jobs.
    type: list
    elements: str
    default: []
  variables:
    description: The variables that give these options their values, by option, for messages that say what to set.
    type: dict
    default: {}
  take_over:
    description: Close the nodes. Without it the module refuses and warns, and changes nothing.
    type: bool
    default: false
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
    job_namespaces: [vision]
    kubeconfig: "{{ slurm_gate_kubeconfig }}"
    take_over: true
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
  returned: success, with O(take_over)
  type: list
  elements: str
faults:
  description: Why nodes can't be taken over, as sentences.
  returned: when they can't
  type: list
  elements: str
"""
