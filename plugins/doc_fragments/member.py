# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the action kube_member and of its half on the host."""


class ModuleDocFragment:
    """Their common options."""

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
    description: If false, the module changes nothing and fails if the membership is wrong.
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
    description: Flags of the kubelet, besides those for its files, name and address.
    type: list
    elements: str
    default: []
  program:
    description: Path of the kubelet.
    type: path
    default: /usr/bin/kubelet
  certificate:
    description: File of the kubelet's client certificate and key.
    type: path
    default: /var/lib/kubelet/pki/kubelet-client-current.pem
  timeout_s:
    description: Seconds until the node must be Ready with a verified certificate.
    type: int
    default: 90
  variables:
    description:
      - Names of the variables that set these options, for messages. C(numa_config) names the one for keys of the NUMA
        drop-in.
    type: dict
    default: {}
"""
