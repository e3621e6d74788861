#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gate_adoption action, which runs where Ansible runs."""

DOCUMENTATION = r"""
module: gate_adoption
short_description: Close nodes that Kubernetes already uses, once no non-job pod runs there
version_added: 0.1.0
description:
  - Reads nodes of gated partitions, and unscheduled pods that tolerate closed nodes. Non-job pods are refused, or
    evicted with the consent O(evict), within their disruption budgets. Then a node without a state of the gate is
    closed. A cordoned node is refused.
  - Closes no node before admission policies keep new pods away.
  - Refuses namespaces of jobs that have lost their account while jobs run there.
  - Refuses operators and daemons that drain, reboot or upgrade nodes under running jobs, unless O(accepted) names them.
  - Refuses RoleBindings to ClusterRoles outside of O(tenant_roles) in namespaces of jobs. Refuses Roles there whose
    rights reach other users' jobs. O(accepted) allows single ones. Warns of such ClusterRoleBindings.
  - Warns of DaemonSets of infrastructure that get no pod on gated nodes.
  - Runs in Ansible's own process. A second run changes nothing.
author: Drawbridge contributors (@drawbridge)
options:
  nodes:
    description: Nodes of gated partitions. A node that joins later registers as closed and needs no adoption.
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
    description: Kubeconfig of a user who may act as the installer.
    type: path
    required: true
  evict:
    description: Non-job pods may be evicted from gated nodes.
    type: bool
    default: false
  accepted:
    description: Conflicting operators, RoleBindings and Roles that may stay, by the names in the refusal.
    type: list
    elements: str
    default: []
  tenant_roles:
    description: ClusterRoles that may be bound in namespaces of jobs.
    type: list
    elements: str
    default: []
  variables:
    description: Variables that set these options, by option; messages name them.
    type: dict
    default: {}
  adopt:
    description: Close the nodes. Without it the module refuses and warns, and changes nothing.
    type: bool
    default: false
  timeout_s:
    description: Time limit for the end of all evicted pods, in seconds.
    type: float
    default: 600
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: Shows nodes with their state, and pods that block their adoption.
    support: full
"""

EXAMPLES = r"""
- name: Adopt nodes that Kubernetes already uses
  drawbridge.drawbridge.gate_adoption:
    nodes: [gpu01, gpu02]
    infra_namespaces: "{{ drawbridge_kube.infra_namespaces }}"
    job_namespaces: [vision]
    kubeconfig: "{{ slurm_gate_kubeconfig }}"
    adopt: true
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Always empty; a node is adopted at once or not at all.
  returned: always
  type: list
  elements: str
intolerant:
  description: DaemonSets of infrastructure that get no pod on gated nodes, as sentences.
  returned: success, with O(adopt)
  type: list
  elements: str
faults:
  description: Reasons for a refusal, as sentences.
  returned: on refusal
  type: list
  elements: str
"""
