#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node's kubelet runs with our part of its configuration."""

DOCUMENTATION = r"""
module: kubelet_config
short_description: Run a node's kubelet with our drop-in of its configuration
version_added: 0.1.0
description:
  - Writes a drop-in for the kubelet's C(--config-dir), enables the unit and makes sure that the running kubelet has
    read it. Other files of the directory, and the main configuration, stay as they are.
  - The kubelet itself checks new content before anything is replaced. It ignores keys that it does not know, so only
    the keys listed here are taken.
  - A changed policy makes the kubelet refuse its own state files, so they are removed between stop and start.
  - On a node with a Slurm job or a job's pods nothing is done; RV(pending) says why.
author: Drawbridge contributors
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
  slurm_node:
    description: What Slurm calls this node; used only where Slurm is installed.
    type: str
    required: true
  start_timeout_s:
    description: How long the kubelet may take to become healthy.
    type: int
    default: 60
  config:
    description: Keys of KubeletConfiguration and their values. Lists replace those of earlier files, maps are merged.
    type: dict
    required: true
    suboptions:
      registerWithTaints:
        description: Taints that the Node object is created with.
        type: list
        elements: dict
      topologyManagerPolicy:
        description: How hints of CPUs, memory and devices are merged.
        type: str
        choices: [none, best-effort, restricted, single-numa-node]
      topologyManagerScope:
        description: What is aligned together.
        type: str
        choices: [container, pod]
      cpuManagerPolicy:
        description: Whether containers of guaranteed pods get CPUs of their own.
        type: str
        choices: [none, static]
      reservedSystemCPUs:
        description: CPUs that pods never get, as a kernel CPU list.
        type: str
      memoryManagerPolicy:
        description: Whether guaranteed pods get memory of chosen NUMA nodes.
        type: str
        choices: [None, Static]
      systemReserved:
        description: Resources of the system's daemons.
        type: dict
      kubeReserved:
        description: Resources of Kubernetes' daemons.
        type: dict
      evictionHard:
        description: Signals and thresholds at which pods are evicted.
        type: dict
      reservedMemory:
        description: Reserved memory by NUMA node; must add up to system, kube and eviction reserve.
        type: list
        elements: dict
attributes:
  check_mode:
    description: Predicts exactly; the kubelet's own check of new content happens at the real run.
    support: full
  diff_mode:
    description: Shows the drop-in and the daemon.
    support: full
"""

EXAMPLES = r"""
- name: Run the kubelet with the node's NUMA policy, born closed
  drawbridge.drawbridge.kubelet_config:
    config: "{{ kubelet_numa_config }}"
    slurm_node: "{{ inventory_hostname }}"
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

from ..module_utils.drawbridge.adapters.command import Command
from ..module_utils.drawbridge.adapters.kubelet import Kubelet, Places
from ..module_utils.drawbridge.dialects.kubelet_config import KubeletState, render
from ..module_utils.drawbridge.module import finish
from ..module_utils.drawbridge.plans.kubelet import plan

COMMAND_S = 120.0  # stopping a kubelet under load takes its time
ARGUMENT_SPEC = {
    "path": {"type": "path", "default": "/etc/kubernetes/kubelet.conf.d/50-drawbridge.conf"},
    "main_config": {"type": "path", "default": "/var/lib/kubelet/config.yaml"},
    "state_dir": {"type": "path", "default": "/var/lib/kubelet"},
    "slurm_node": {"type": "str", "required": True},
    "start_timeout_s": {"type": "int", "default": 60},
    "config": {
        "type": "dict",
        "required": True,
        "options": {
            "registerWithTaints": {"type": "list", "elements": "dict"},
            "topologyManagerPolicy": {
                "type": "str",
                "choices": ["none", "best-effort", "restricted", "single-numa-node"],
            },
            "topologyManagerScope": {"type": "str", "choices": ["container", "pod"]},
            "cpuManagerPolicy": {"type": "str", "choices": ["none", "static"]},
            "reservedSystemCPUs": {"type": "str"},
            "memoryManagerPolicy": {"type": "str", "choices": ["None", "Static"]},
            "systemReserved": {"type": "dict"},
            "kubeReserved": {"type": "dict"},
            "evictionHard": {"type": "dict"},
            "reservedMemory": {"type": "list", "elements": "dict"},
        },
    },
}


def main() -> None:
    """Converge this node's kubelet."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    config = {key: value for key, value in params["config"].items() if value is not None}
    want = KubeletState(render(config), enabled=True, running=True, current=True)
    places = Places(Path(params["path"]), Path(params["main_config"]), Path(params["state_dir"]))
    kubelet = Kubelet(places, params["slurm_node"], want, Command(COMMAND_S), params["start_timeout_s"])
    finish(module, kubelet, plan, want)


if __name__ == "__main__":
    main()
