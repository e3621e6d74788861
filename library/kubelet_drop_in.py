#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The host's half of the action kubelet_config: a node's kubelet runs with our part of its configuration."""

DOCUMENTATION = r"""
module: kubelet_drop_in
short_description: Run a node's kubelet with our drop-in of its configuration
version_added: 0.1.0
description:
  - Writes a drop-in for the kubelet's C(--config-dir), enables the unit and makes sure that the running kubelet has
    read it. Other files of the directory, and the main configuration, stay as they are.
  - The kubelet itself checks new content before anything is replaced. State files of its managers that the new content
    contradicts are removed between stop and start; others stay.
  - A kubelet that runs is restarted on a node that Slurm has drained and the gate has closed. On a node with a Slurm
    job or a job's pods nothing is done; RV(pending) says why.
  - Runs on the host for M(drawbridge.drawbridge.kubelet_config), which checks the content before; use that one.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.kubelet]
options:
  path:
    description: The drop-in, a file that ends in C(.conf) in the kubelet's C(--config-dir).
    type: path
    default: /etc/kubernetes/kubelet.conf.d/50-drawbridge.conf
  main_config:
    description: The kubelet's C(--config), which is only read.
    type: path
    default: /var/lib/kubelet/config.yaml
  state_dir:
    description: The kubelet's C(--root-dir), where it keeps the state of its managers.
    type: path
    default: /var/lib/kubelet
  certificate:
    description: The kubelet's client certificate and key, one PEM file. A host without it is no member.
    type: path
    default: /var/lib/kubelet/pki/kubelet-client-current.pem
  start_timeout_s:
    description: How long the kubelet may take to become healthy, and its node Ready, in seconds.
    type: int
    default: 60
  config:
    description: Keys of KubeletConfiguration and their values. Lists replace those of earlier files, maps are merged.
    type: dict
    required: true
attributes:
  check_mode:
    description: Predicts exactly; the kubelet's own check of new content happens at the real run.
    support: full
  diff_mode:
    description: Shows the drop-in and the daemon.
    support: full
"""

EXAMPLES = r"""
- name: Run the kubelet with its part of the configuration
  drawbridge.drawbridge.kubelet_drop_in:
    config: "{{ kubelet_numa_view.config }}"
    slurm_node: "{{ inventory_hostname }}"
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
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

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.api.host import Server
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.kube.kubelet.health_io import Health
from ..module_utils.drawbridge.kube.kubelet.io import Kubelet, Places
from ..module_utils.drawbridge.kube.kubelet.plan import KubeletState, plan
from ..module_utils.drawbridge.kube.kubelet.text import render
from ..module_utils.drawbridge.kube.node_object_io import OwnNode
from ..module_utils.drawbridge.nodes.use_io import NodeUse

COMMAND_S = 120.0  # stopping a kubelet under load takes its time
ARGUMENT_SPEC = {
    "path": {"type": "path", "default": "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"},
    "main_config": {"type": "path", "default": "/var/lib/kubelet/config.yaml"},
    "state_dir": {"type": "path", "default": "/var/lib/kubelet"},
    "certificate": {"type": "path", "default": "/var/lib/kubelet/pki/kubelet-client-current.pem"},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "slurm_node": {"type": "str", "required": True},
    "start_timeout_s": {"type": "int", "default": 60},
    "join": {"type": "str", "choices": ["drawbridge", "site"], "default": "drawbridge"},
    "config": {"type": "dict", "required": True},
}


def main() -> None:
    """Converge this node's kubelet."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params, run = module.params, Command(COMMAND_S)
    want = KubeletState(render(params["config"]), enabled=True, running=True, current=True)
    places = Places(Path(params["path"]), Path(params["main_config"]), Path(params["state_dir"]))
    server = Server(params["api_server"], params["ca_file"])
    node = OwnNode(server, Path(params["certificate"]), params["slurm_node"])
    use, health = NodeUse(run, params["slurm_node"]), Health(run, params["start_timeout_s"])
    kubelet = Kubelet(places, want, run, use, node, health, of_site=params["join"] == "site")
    finish(module, kubelet, plan, want, in_use=kubelet.in_use)


if __name__ == "__main__":
    main()
