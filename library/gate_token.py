#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gate_token action, which runs where Ansible runs."""

DOCUMENTATION = r"""
module: gate_token
short_description: Write a ServiceAccount's token to a host
version_added: 0.1.0
description:
  - The host checks that the API server accepts its token and that it lasts. Only if not, Ansible requests a new token
    as the installer, and writes it on the host. The kubeconfig never leaves Ansible's own process.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.token_file]
options:
  lifetime_s:
    description: Lifetime of a new token in seconds; the host renews it before its end.
    type: int
    default: 86400
  kubeconfig:
    description: Kubeconfig of a user who may act as the installer.
    type: path
    required: true
attributes:
  check_mode:
    description: Predicts exactly, requests nothing.
    support: full
  diff_mode:
    description: Shows bearer, owner and mode, never the token.
    support: full
"""

EXAMPLES = r"""
- name: Give the node its own identity
  drawbridge.drawbridge.gate_token:
    path: /var/lib/drawbridge/gate/node.token
    namespace: drawbridge-nodes
    name: "{{ inventory_hostname }}"
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
    kubeconfig: ~/.kube/config
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
"""
