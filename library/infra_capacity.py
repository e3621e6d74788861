#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action infra_capacity."""

DOCUMENTATION = r"""
module: infra_capacity
short_description: Check that every non-job pod fits on the infra nodes
version_added: 0.1.0
description:
  - A gated node is closed between jobs, and then only its job's pods run there. All other pods (DNS, operators,
    monitoring) need other nodes.
  - Refuses infra nodes that are missing, not Ready, cordoned or gated.
  - Finds a node for each pod that runs on a gated node, or could run there. Fails with the pods that fit on no node,
    each with the reasons.
  - Counts requests, taints, node selectors and required node affinity. It ignores volumes and affinity between pods.
  - Runs in Ansible's own process with two API calls, for any cluster size. Changes nothing.
author: Drawbridge contributors (@drawbridge)
options:
  infra:
    description: Nodes that must exist and that no gated partition has.
    type: list
    elements: str
    required: true
  gated:
    description: Nodes of gated partitions, even if the gate has not closed them yet.
    type: list
    elements: str
    required: true
  job_namespaces:
    description: Namespaces of jobs; their pods do not count.
    type: list
    elements: str
    default: []
  kubeconfig:
    description: Kubeconfig of a user who may impersonate the group C(drawbridge:platform).
    type: path
    required: true
attributes:
  check_mode:
    description: It only reads.
    support: full
  diff_mode:
    description: There is no difference to show, because nothing changes.
    support: none
"""

EXAMPLES = r"""
- name: Check that every non-job pod fits on the infra nodes
  drawbridge.drawbridge.infra_capacity:
    infra: [infra1, infra2]
    gated: "{{ slurm_gate_objects_view.nodes }}"
    kubeconfig: "{{ gpu_operator_kubeconfig }}"
"""

RETURN = r"""
faults:
  description: Unusable infra nodes, and pods that fit on no node, as sentences.
  returned: always
  type: list
  elements: str
"""
