#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Put the gate's guard in front of the OCI runtime."""

DOCUMENTATION = r"""
module: gate_runtime
short_description: Let the gate's guard judge the image of each container of a job
version_added: 0.1.0
description:
  - Names the guard to containerd in a file of C(/etc/containerd/conf.d), in place of the OCI runtime, and restarts
    containerd. Containers survive a restart. While Slurm or a job's pods use the node, it is C(pending).
  - The guard refuses an image whose links lead root into a volume of the pod, and becomes the former runtime otherwise.
  - Fails if containerd's default runtime is not C(runc), or if containerd does not read the file.
author: Drawbridge contributors (@drawbridge)
options:
  guard:
    description:
      - Whether the guard stands before the runtime.
      - Without it, O(mounts) must take root's rights away (root squash). A closed directory shows it.
    type: bool
    default: true
  mounts:
    description: Mount points of the file systems that pods of jobs see.
    type: list
    elements: str
    default: []
  accept_images:
    description: Consent to images that can lead root into closed directories of O(mounts).
    type: bool
    default: false
  variables:
    description: Names of the variables behind O(guard) and O(accept_images), which an error prints.
    type: dict
    default: {guard: guard, accept_images: accept_images}
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
- name: Judge the images of jobs
  drawbridge.drawbridge.gate_runtime:
    mounts: [/gpfs/fs1]
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
from ..module_utils.drawbridge.gate.runtime.layer import GATE_RUNTIME


def main() -> None:
    """Run this layer."""
    main_of(GATE_RUNTIME)


if __name__ == "__main__":
    main()
