#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the kubelet_config action; it checks the content in the controller's own process."""

DOCUMENTATION = r"""
module: kubelet_config
short_description: Run a node's kubelet with NUMA policies that can work
version_added: 0.1.0
description:
  - Checks the configuration on the controller, without contacting the host. A kubelet dies of most mistakes and
    swallows the rest, such as a misspelt key; all of them are refused here, each with its repair.
  - Then M(drawbridge.drawbridge.kubelet_drop_in) runs on the host, with the other options.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.kubelet]
options:
  config:
    description:
      - Keys of KubeletConfiguration that say who gets which CPUs and memory. With O(join=site) also the taints of a new
        node, which must register closed.
    type: dict
    required: true
  derived:
    description:
      - C(config) as the site's description has it. Slurm knows its reservations and no others, so that those of
        O(config) must be the same.
    type: dict
    required: true
  machine:
    description:
      - CPUs and NUMA nodes of the host, C(machine) of P(drawbridge.drawbridge.kubelet_view#filter).
    type: dict
    required: true
  path:
    description: The drop-in, a file that ends in C(.conf) in the kubelet's C(--config-dir).
    type: path
  main_config:
    description: The kubelet's C(--config), which is only read.
    type: path
  state_dir:
    description: The kubelet's C(--root-dir), where it keeps the state of its managers.
    type: path
  certificate:
    description: The kubelet's client certificate and key, one PEM file. A host without it is no member.
    type: path
  start_timeout_s:
    description: How long the kubelet may take to become healthy, and its node Ready, in seconds.
    type: int
  variables:
    description: Names of the variables that set these options, for messages, such as C(config) and C(main_config).
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts exactly; the kubelet's own check of new content happens at the real run.
    support: full
  diff_mode:
    description: Shows the drop-in and the daemon.
    support: full
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
  description: What was done, or would be.
  returned: always
  type: list
  elements: str
pending:
  description: What has to wait, and for what.
  returned: always
  type: list
  elements: str
faults:
  description: What is wrong with the configuration.
  returned: when it is refused
  type: list
  elements: str
"""
