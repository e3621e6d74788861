#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Give a node's GPUs their partition modes."""

DOCUMENTATION = r"""
module: gpu_modes
short_description: Give a node's GPUs their partition modes
version_added: 0.2.0
description:
  - Reads the modes of GPUs of amd from the kernel, and writes the compute mode there. No tool is needed.
  - GPUs change only on a node that is drained in Slurm and has no jobs. Elsewhere the change is pending. A node whose
    slurmd does not run needs no drain.
  - A memory mode needs a reload of the driver, so a person sets it. The pending change has the command.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view, drawbridge.drawbridge.intent.gpu_vendor]
options:
  name:
    description: Name of this node in Slurm.
    type: str
  gpu_modes:
    description: Partition modes of all GPUs, C(compute) and C(memory), such as C(CPX) and C(NPS4).
    type: dict
    default: {}
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The modes of each GPU.
    support: full
"""

EXAMPLES = r"""
- name: Make eight GPUs of each GPU
  drawbridge.drawbridge.gpu_modes:
    name: gpu01
    gpu_vendor: amd
    gpu_modes: {compute: CPX}
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
from ..module_utils.drawbridge.nodes.gpus.modes_layer import GPU_MODES


def main() -> None:
    """Run this layer."""
    main_of(GPU_MODES)


if __name__ == "__main__":
    main()
