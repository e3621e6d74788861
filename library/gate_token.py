#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the gate_token action; it asks for tokens in the controller's own process."""

DOCUMENTATION = r"""
module: gate_token
short_description: Give a host a ServiceAccount's token
version_added: 0.1.0
description:
  - The host looks whether its token is accepted and lasts. Only if not, a new one is requested from here, with the
    kubeconfig of the person who runs Ansible, and written on the host. The kubeconfig never leaves this process.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.token_file]
options:
  lifetime_s:
    description: How long a new token lasts; the host renews it by itself before.
    type: int
    default: 86400
  kubeconfig:
    description: Kubeconfig of the person who runs Ansible; may create tokens of the ServiceAccount.
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
- name: Give the node an identity of its own
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
  description: What was done, or would be.
  returned: always
  type: list
  elements: str
"""
