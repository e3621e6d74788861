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
options:
  path:
    description: The file.
    type: path
    required: true
  namespace:
    description: Namespace of the ServiceAccount.
    type: str
    required: true
  name:
    description: Name of the ServiceAccount.
    type: str
    required: true
  owner:
    description: Who may read the file, beside root.
    type: str
    default: root
  api_server:
    description: URL of the API server, as the host knows it.
    type: str
    required: true
  ca_file:
    description: CA certificate of the API server, a path on the host.
    type: path
    required: true
  min_left_s:
    description: A token that ends sooner than this is replaced.
    type: int
    default: 21600
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
    path: /etc/drawbridge/gate/node.token
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
