#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep containerd running with its files."""

DOCUMENTATION = r"""
module: kube_runtime
short_description: Keep a node's container runtime running with its files
version_added: 0.1.0
description:
  - Writes containerd's configuration, its unit's drop-in and the files of registries, enables and starts it, and
    restarts it when it started before its files, or its program, last changed. Containers survive that.
  - Files of registries are read anew at every pull, so that they need no restart; those that nobody wants any more, and
    that were written here, are removed. What others put into C(/etc/containerd/conf.d) and beside stays.
  - While Slurm or a job's pods use the node a restart is C(pending).
author: Drawbridge contributors
options:
  systemd_cgroup:
    description: Whether systemd makes the control groups of containers. The kubelet asks containerd which way it is.
    type: bool
    default: true
  sandbox_image:
    description: Image that runs beside the containers of every pod, with its tag or digest.
    type: str
    required: true
  registries:
    description: Files of registries.
    type: list
    elements: dict
    default: []
    suboptions:
      path:
        description: Absolute path.
        type: path
        required: true
      content:
        description: Text of the file.
        type: str
        required: true
  program:
    description: The runtime.
    type: path
    default: /usr/bin/containerd
  slurm_node:
    description: What Slurm calls this node; used only where Slurm is installed.
    type: str
    required: true
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Files with their contents, and the unit's state.
    support: full
"""

EXAMPLES = r"""
- name: Run containerd
  drawbridge.drawbridge.kube_runtime:
    sandbox_image: registry.k8s.io/pause:3.10
    slurm_node: "{{ inventory_hostname }}"
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What can't be done now, and why.
  returned: always
  type: list
  elements: str
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.daemon.plan import DaemonState
from ..module_utils.drawbridge.core.file_entry import Entry
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.kube.runtime.text import CERTS_D, CONFIG_FILE, DROP_IN, HEADER, LIMITS, config
from ..module_utils.drawbridge.kube.unit_io import KubeUnit, marked
from ..module_utils.drawbridge.kube.unit_plan import plan
from ..module_utils.drawbridge.nodes.use_io import NodeUse

COMMAND_S = 120.0
ARGUMENT_SPEC = {
    "systemd_cgroup": {"type": "bool", "default": True},
    "sandbox_image": {"type": "str", "required": True},
    "registries": {
        "type": "list",
        "elements": "dict",
        "default": [],
        "options": {"path": {"type": "path", "required": True}, "content": {"type": "str", "required": True}},
    },
    "program": {"type": "path", "default": "/usr/bin/containerd"},
    "slurm_node": {"type": "str", "required": True},
}


def main() -> None:
    """Wire containerd to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params, run = module.params, Command(COMMAND_S)
    registries = {file["path"]: Entry(file["content"]) for file in params["registries"]}
    main_file = config(params["systemd_cgroup"], params["sandbox_image"])
    own = {CONFIG_FILE: Entry(main_file), DROP_IN: Entry(LIMITS)}
    want = DaemonState("containerd.service", {**own, **registries}, passive=frozenset(registries))
    use, left = NodeUse(run, params["slurm_node"]), marked(Path(CERTS_D), "*/*", HEADER)
    finish(module, KubeUnit(want, run, params["program"], left), plan, want, in_use=use.busy)


if __name__ == "__main__":
    main()
