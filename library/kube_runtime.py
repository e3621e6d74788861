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
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  systemd_cgroup:
    description: Whether systemd creates the containers' control groups. The kubelet queries containerd for this.
    type: bool
    default: true
  sandbox_image:
    description: The pause image, which every pod runs, with its tag or digest.
    type: str
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
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be made now, each with the reason.
  returned: always
  type: list
  elements: str
done:
  description: Steps that were done.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that were not done.
  returned: failure
  type: list
  elements: str
"""

from ..module_utils.drawbridge.core.module import main_of
from ..module_utils.drawbridge.kube.runtime.layer import KUBE_RUNTIME


def main() -> None:
    """Run this layer."""
    main_of(KUBE_RUNTIME)


if __name__ == "__main__":
    main()
