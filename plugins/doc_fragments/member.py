# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the action kube_member and of its module on the host."""


class ModuleDocFragment:
    """Shared options and attributes."""

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
    description: With V(false) nothing is changed, and a faulty membership is a failure.
    type: bool
    default: true
  api_server:
    description: URL of the API server.
    type: str
    required: true
  ca_file:
    description: Path of the API server's CA certificate on the host.
    type: path
    required: true
  config:
    description: The kubelet's main configuration, keys of KubeletConfiguration.
    type: dict
    default: {}
  flags:
    description: Further flags of the kubelet, besides those for its files, name and address.
    type: list
    elements: str
    default: []
  program:
    description: Path of the kubelet.
    type: path
    default: /usr/bin/kubelet
  certificate:
    description: The kubelet's client certificate and key, one PEM file.
    type: path
    default: /var/lib/kubelet/pki/kubelet-client-current.pem
  timeout_s:
    description: Time limit for a Ready node with a verified certificate, in seconds.
    type: int
    default: 90
  variables:
    description:
      - Names of the variables that set these options, for messages. C(numa_config) names the one for keys of the NUMA
        drop-in.
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts exactly, and creates no token.
    support: full
  diff_mode:
    description: Shows the unit's files and the membership, never a token or a key.
    support: full
"""
