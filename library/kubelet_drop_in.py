#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The action kubelet_config's module on the host: the drop-in, and a kubelet that runs with it."""

DOCUMENTATION = r"""
module: kubelet_drop_in
short_description: Run a node's kubelet with Drawbridge's configuration drop-in
version_added: 0.1.0
description:
  - Writes a drop-in for the kubelet's C(--config-dir), enables the unit and makes sure that the running kubelet has
    read it. Other files of the directory and the main configuration do not change.
  - The kubelet checks new content before a file is replaced. State files of its managers that contradict the new
    content are removed between stop and start.
  - A running kubelet is restarted only while Slurm has drained the node and the gate has closed it. While a Slurm job
    or a job's pods use the node, all steps wait; see RV(pending).
  - Do not call it directly. M(drawbridge.drawbridge.kubelet_config) does, after it has checked the content.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.kubelet]
"""

EXAMPLES = r"""
- name: Run the kubelet with its part of the configuration
  drawbridge.drawbridge.kubelet_drop_in:
    config: "{{ kubelet_numa_view.config }}"
    slurm_node: "{{ inventory_hostname }}"
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
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
from ..module_utils.drawbridge.kube.node_object_io import NodeObject
from ..module_utils.drawbridge.kube.options import KUBELET
from ..module_utils.drawbridge.nodes.use_io import NodeUse

COMMAND_S = 120.0  # a kubelet under load stops slowly
ARGUMENT_SPEC = KUBELET


def main() -> None:
    """Converge this node's kubelet."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params, run = module.params, Command(COMMAND_S)
    want = KubeletState(render(params["config"]), enabled=True, running=True, current=True)
    places = Places(Path(params["path"]), Path(params["main_config"]), Path(params["state_dir"]))
    server = Server(params["api_server"], params["ca_file"])
    node = NodeObject(server, Path(params["certificate"]), params["slurm_node"])
    use, health = NodeUse(run, params["slurm_node"]), Health(run, params["start_timeout_s"])
    kubelet = Kubelet(places, want, run, use, node, health, of_site=params["join"] == "site")
    finish(module, kubelet, plan, want, in_use=kubelet.in_use)


if __name__ == "__main__":
    main()
