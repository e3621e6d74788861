#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Documentation of the kube_member action; it makes tokens and signs certificates in the controller's own process."""

DOCUMENTATION = r"""
module: kube_member
short_description: Make a host a member of a Kubernetes cluster, or none
version_added: 0.1.0
description:
  - The host looks at its kubelet and its Node. Only if something is missing, the kubeconfig of the person who runs
    Ansible is used; it never leaves this process on the controller.
  - A host that is no member gets a bootstrap token that is good for minutes and for signing requests alone, and is
    deleted when the host has joined. It stands in one file of the host meanwhile, never in a log or a command line.
  - The kubelet's signing requests are approved when the API server says that they come from this node, and they ask for
    its own name and address alone. Others' requests are left to others.
  - A host is joined only if C(registerWithTaints) of C(config) has C(drawbridge.io/slurm=closed:NoSchedule).
  - A Node is deleted only while it is closed.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.member]
options:
  ca_file:
    description: Where the API server's CA certificate is put on the host.
    type: path
    required: true
  kubeconfig:
    description:
      - Kubeconfig of the person who runs Ansible, who may make bootstrap tokens, approve signing requests and delete
        Nodes.
    type: path
    required: true
  version:
    description: Version of the kubelet's package. One that is newer than the API server is refused.
    type: str
    default: ""
attributes:
  check_mode:
    description: Predicts exactly, requests nothing.
    support: full
  diff_mode:
    description: Shows the unit's files and the membership, never a token or a key.
    support: full
"""

EXAMPLES = r"""
- name: Make the host a member
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
  description: What was done, or would be.
  returned: always
  type: list
  elements: str
pending:
  description: What has to wait, and for what.
  returned: always
  type: list
  elements: str
"""
