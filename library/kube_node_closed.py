#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Wait until the gate has closed this node."""

DOCUMENTATION = r"""
module: kube_node_closed
short_description: Wait until the gate has closed this node
version_added: 0.1.0
description:
  - Reads this host's Node with the kubelet's certificate, and looks for pods of jobs. It changes nothing.
  - It fails if the node is not closed after the wait. A host without the certificate has no pods, nor has one without
    a Node.
author: Drawbridge contributors (@drawbridge)
options:
  name:
    description: Name of the Node, and of this host in Slurm.
    type: str
    required: true
  api_server:
    description: URL of the API server.
    type: str
    required: true
  ca_file:
    description: File with the CA certificates of the API server.
    type: path
    required: true
  certificate:
    description: File with the kubelet's client certificate and key.
    type: path
    default: /var/lib/kubelet/pki/kubelet-client-current.pem
  wait_s:
    description: Longest wait, in seconds. Check mode does not wait.
    type: int
    default: 300
attributes:
  check_mode:
    description: It reads in check mode too, once. A node that is not closed is C(pending) then.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Wait until the node is closed
  drawbridge.drawbridge.kube_node_closed:
    name: gpu01
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
"""

RETURN = r"""
steps:
  description: Always empty.
  returned: always
  type: list
  elements: str
pending:
  description: In check mode, why the node is not closed yet.
  returned: always
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.kube.member.closed_layer import KUBE_NODE_CLOSED


def main() -> None:
    """Run this layer."""
    main_of(KUBE_NODE_CLOSED)


if __name__ == "__main__":
    main()
