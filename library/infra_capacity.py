#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the infra_capacity action; it runs in the controller's own process, where the kubeconfig is."""

DOCUMENTATION = r"""
module: infra_capacity
short_description: See that nodes that are never gated have room for all that is no job's
version_added: 0.1.0
description:
  - A gated node is closed between jobs, and only its job's pods run there. Everything else (DNS, operators, monitoring)
    needs nodes of its own.
  - Refuses infra nodes that are not there, not Ready, cordoned or gated. Then puts each pod that runs on a node of
    jobs, or that could if that were open, where it fits; names those that fit nowhere, each with the reasons.
  - Counts requests, taints, node selectors and required node affinity, not volumes, nor affinity between pods.
  - Runs in Ansible's own process; two lists, whatever the cluster's size. Changes nothing.
author: Drawbridge contributors
options:
  infra:
    description: Nodes that must be there and never gated.
    type: list
    elements: str
    required: true
  gated:
    description: Nodes that jobs hold, whether they are gated yet or not.
    type: list
    elements: str
    required: true
  job_namespaces:
    description: Namespaces whose pods come and go with jobs.
    type: list
    elements: str
    default: []
  kubeconfig:
    description: Kubeconfig of a person who may impersonate the group C(drawbridge:platform).
    type: path
    required: true
attributes:
  check_mode:
    description: It only reads.
    support: full
  diff_mode:
    description: There is never a difference, because nothing changes.
    support: none
"""

EXAMPLES = r"""
- name: See that everything else has a home
  drawbridge.drawbridge.infra_capacity:
    infra: [infra1, infra2]
    gated: "{{ slurm_gate_objects_view.nodes }}"
    kubeconfig: "{{ gpu_operator_kubeconfig }}"
"""

RETURN = r"""
faults:
  description: What is missing, as sentences.
  returned: always
  type: list
  elements: str
"""
