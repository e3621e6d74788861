#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The action kube_member's module on the host: all steps that need no kubeconfig."""

DOCUMENTATION = r"""
module: kube_member_host
short_description: Keep this host a member of its cluster, or remove it
version_added: 0.1.0
description:
  - Writes the kubelet's files, starts it, and waits until its Node is Ready and its certificate is verified.
  - Do not call it directly. M(drawbridge.drawbridge.kube_member) does, and it creates tokens and approves certificates.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.member]
options:
  ca:
    description: The CA certificates of the API server, PEM.
    type: str
    default: ""
  token:
    description: A bootstrap token. A file holds it until the node has joined.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Predict the steps for a node
  drawbridge.drawbridge.kube_member_host:
    name: gpu01
    address: 192.0.2.21
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
  check_mode: true
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.kube.member.layer import KUBE_MEMBER_HOST


def main() -> None:
    """Run this layer."""
    main_of(KUBE_MEMBER_HOST)


if __name__ == "__main__":
    main()
