#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action kubelet_config."""

DOCUMENTATION = r"""
module: kubelet_config
short_description: Run a node's kubelet with checked NUMA policies
version_added: 0.1.0
description:
  - Checks the configuration on the controller before it contacts the host. Most mistakes would end the kubelet; it
    silently ignores others, such as a misspelt key. All of them are refused here, each with its repair.
  - Then runs M(drawbridge.drawbridge.kubelet_config_host) on the host with the other options.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.kubelet]
options:
  derived:
    description:
      - C(config) as derived from the intent. Slurm uses its reservations, so those of O(config) must be the same.
    type: dict
  machine:
    description:
      - CPUs and NUMA nodes of the host, C(machine) of view C(kubelet) of P(drawbridge.drawbridge.view#filter).
    type: dict
"""

EXAMPLES = r"""
- name: Run the kubelet with the node's NUMA policy
  drawbridge.drawbridge.kubelet_config:
    config: "{{ kubelet_numa_view.config | combine(kubelet_numa_settings, recursive=true) }}"
    derived: "{{ kubelet_numa_view.config }}"
    machine: "{{ kubelet_numa_view.machine }}"
    slurm_node: "{{ inventory_hostname }}"
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
faults:
  description: Faults of the configuration.
  returned: when it is refused
  type: list
  elements: str
"""
