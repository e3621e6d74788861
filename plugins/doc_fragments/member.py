# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the action kube_member and of its half on the host."""


class ModuleDocFragment:
    """What both are told."""

    DOCUMENTATION = r"""
options:
  name:
    description: Name of the Node, which is also Slurm's.
    type: str
    required: true
  address:
    description: IP address at which the API server reaches the kubelet.
    type: str
    required: true
  state:
    description: Whether the host is a member.
    type: str
    choices: [present, absent]
    default: present
  join:
    description: Without it nothing is changed, and what is wrong with the membership is a failure.
    type: bool
    default: true
  api_server:
    description: URL of the API server.
    type: str
    required: true
  config:
    description: The kubelet's main configuration, keys of KubeletConfiguration.
    type: dict
    default: {}
  flags:
    description: Flags of the kubelet beside those for its files, its name and its address.
    type: list
    elements: str
    default: []
  program:
    description: The kubelet.
    type: path
    default: /usr/bin/kubelet
  certificate:
    description: Where the kubelet keeps its client certificate and key.
    type: path
    default: /var/lib/kubelet/pki/kubelet-client-current.pem
  timeout_s:
    description: How long the node may take to become Ready with a verified certificate, in seconds.
    type: int
    default: 90
"""
