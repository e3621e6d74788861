# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of the action kubelet_config and of its half on the host."""


class ModuleDocFragment:
    """Their common options."""

    DOCUMENTATION = r"""
options:
  api_server:
    description: URL of the API server, as seen from the host.
    type: str
    required: true
  ca_file:
    description: CA certificate of the API server, a path on the host.
    type: path
    required: true
  slurm_node:
    description: Name of this node in Slurm and in Kubernetes. The module queries Slurm only if its commands exist.
    type: str
    required: true
  join:
    description:
      - Who starts the kubelet. With V(site) the module refuses a kubelet that runs without C(--config-dir) or with
        another directory. With V(drawbridge) M(drawbridge.drawbridge.kube_member) starts it with the right one.
    type: str
    choices: [drawbridge, site]
    default: drawbridge
"""
