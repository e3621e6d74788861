#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The action kubelet_config's module on the host: the drop-in, and a kubelet that runs with it."""

DOCUMENTATION = r"""
module: kubelet_config_host
short_description: Run a node's kubelet with Drawbridge's configuration drop-in
version_added: 0.1.0
description:
  - Writes a drop-in for the kubelet's C(--config-dir), enables the unit and makes sure that the running kubelet has
    read it. Other files of the directory and the main configuration do not change.
  - The kubelet checks new content before a file is replaced. State files of its managers that contradict the new
    content are removed between stop and start.
  - A running kubelet is restarted only while Slurm has drained the node and the gate has closed it. While a Slurm job
    or a job's pods use the node, all steps wait, as C(pending) of the result.
  - Do not call it directly. M(drawbridge.drawbridge.kubelet_config) does, after it has checked the content.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.kubelet]
"""

EXAMPLES = r"""
- name: Run the kubelet with its part of the configuration
  drawbridge.drawbridge.kubelet_config_host:
    config: "{{ kubelet_numa_view.config }}"
    slurm_node: "{{ inventory_hostname }}"
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.kube.kubelet.layer import KUBELET_CONFIG_HOST


def main() -> None:
    """Run this layer."""
    main_of(KUBELET_CONFIG_HOST)


if __name__ == "__main__":
    main()
