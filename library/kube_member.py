#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the action kube_member."""

DOCUMENTATION = r"""
module: kube_member
short_description: Join a host to a Kubernetes cluster, or remove it
version_added: 0.1.0
description:
  - The host reads its kubelet and its Node. Only if something is missing, this action uses the kubeconfig, in
    Ansible's own process. The kubeconfig never leaves the controller.
  - A host that is no member gets a bootstrap token. The token is valid for minutes, allows signing requests only, and
    is deleted after the join. Only one file of the host holds it, never a log or a command line.
  - The action approves signing requests that the API server records as this node's, and only for the node's own name
    and address. It does not touch other requests.
  - A host is joined only if C(registerWithTaints) of C(config) has C(drawbridge.io/slurm=closed:NoSchedule).
  - A Node is deleted only while it is closed.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.member]
options:
  kubeconfig:
    description: Kubeconfig of a user who may create bootstrap tokens, approve signing requests and delete Nodes.
    type: path
    required: true
  version:
    description: Version of the kubelet's package. A kubelet that is newer than the API server is refused.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Join the host
  drawbridge.drawbridge.kube_member:
    name: "{{ inventory_hostname }}"
    address: 192.0.2.21
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
    config:
      registerWithTaints: [{key: drawbridge.io/slurm, value: closed, effect: NoSchedule}]
    kubeconfig: ~/.kube/config
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
"""
