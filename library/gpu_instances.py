#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Divide a node's GPUs into instances, or make them whole."""

DOCUMENTATION = r"""
module: gpu_instances
short_description: Divide a node's GPUs into instances (MIG)
version_added: 0.2.0
description:
  - C(nvidia-mig-parted) divides the GPUs, without hooks, and C(nvidia-smi) reads the result. The tool reports success
    even when it did nothing, so its own comparison and the reading decide.
  - GPUs are divided only on a node that is drained in Slurm and has no jobs. Elsewhere the change is pending. A node
    whose slurmd does not run needs no drain.
  - A slurmd that runs is restarted afterwards, because it finds instances only when it starts. After a run that was
    interrupted, the next run restarts it.
  - The unit C(nvidia-mig-manager.service) is disabled. It would divide the GPUs by a file of its own at each boot.
  - Without layouts all GPUs stay whole. If no GPU has instances, the module runs one command.
  - If the driver lists fewer GPUs than layouts, nothing is divided, and M(drawbridge.drawbridge.slurm_node_hardware)
    reports the GPU.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.intent.gpu_vendor]
options:
  name:
    description: Name of this node in Slurm.
    type: str
  gpus:
    description:
      - Instances of each GPU by profile, in index order; an empty mapping for a whole GPU. Without any, all GPUs stay
        whole.
    type: list
    elements: dict
    default: []
  timeout_s:
    description: Seconds after which a call of the tool is aborted.
    type: int
    default: 300
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The instances of each GPU.
    support: full
"""

EXAMPLES = r"""
- name: Divide the second GPU into two instances
  drawbridge.drawbridge.gpu_instances:
    name: gpu01
    gpus:
      - {}
      - {3g.40gb: 2}
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
refused:
  description: Why GPUs can't be divided, with what to do.
  returned: when a person must act first
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
from ..module_utils.drawbridge.nodes.gpus.instances_layer import GPU_INSTANCES


def main() -> None:
    """Run this layer."""
    main_of(GPU_INSTANCES)


if __name__ == "__main__":
    main()
