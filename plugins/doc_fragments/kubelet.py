# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the action kubelet_config and of its half on the host."""


class ModuleDocFragment:
    """What both are told."""

    DOCUMENTATION = r"""
options:
  api_server:
    description: URL of the API server, as the host knows it.
    type: str
    required: true
  ca_file:
    description: CA certificate of the API server, a path on the host.
    type: path
    required: true
  slurm_node:
    description: What Slurm and Kubernetes call this node. Slurm is asked only where its commands are installed.
    type: str
    required: true
  join:
    description:
      - Who starts the kubelet. With V(site) one that runs without C(--config-dir), or with another directory, is
        refused; else role C(kube_node) starts it with the right one.
    type: str
    choices: [drawbridge, site]
    default: drawbridge
"""
