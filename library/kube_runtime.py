#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep containerd running with its current files."""

DOCUMENTATION = r"""
module: kube_runtime
short_description: Keep a node's containerd running with its current files
version_added: 0.1.0
description:
  - Writes containerd's configuration, its unit's drop-in and the registries' files; enables and starts the unit.
  - Restarts it if its files or its program changed after its start. Containers survive a restart. While Slurm or a
    job's pods use the node, a restart is C(pending).
  - Registries' files need no restart, because containerd reads them at every pull. Earlier files of this module that
    O(registries) no longer has are removed. Other files, such as those in C(/etc/containerd/conf.d), stay.
author: Drawbridge contributors
options:
  systemd_cgroup:
    description: Whether systemd creates the containers' control groups. The kubelet queries containerd for this.
    type: bool
    default: true
  sandbox_image:
    description: The pause image, which every pod runs, with its tag or digest.
    type: str
    required: true
  registries:
    description: The registries' files.
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
    description: Path of containerd.
    type: path
    default: /usr/bin/containerd
  slurm_node:
    description: This node's name in Slurm; used only where Slurm is installed.
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
  description: Steps done, or in check mode planned, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Steps that must wait, with the reason.
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
from ..module_utils.drawbridge.kube.unit_io import KubeUnit, with_header
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
    """Converge containerd."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params, run = module.params, Command(COMMAND_S)
    registries = {file["path"]: Entry(file["content"]) for file in params["registries"]}
    main_file = config(params["systemd_cgroup"], params["sandbox_image"])
    own = {CONFIG_FILE: Entry(main_file), DROP_IN: Entry(LIMITS)}
    want = DaemonState("containerd.service", {**own, **registries}, passive=frozenset(registries))
    use, left = NodeUse(run, params["slurm_node"]), with_header(Path(CERTS_D), "*/*", HEADER)
    finish(module, KubeUnit(want, run, params["program"], left), plan, want, in_use=use.busy)


if __name__ == "__main__":
    main()
