#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Compare a node's hardware with its class, and drain a node that differs."""

DOCUMENTATION = r"""
module: slurm_node_hardware
short_description: Compare a node's hardware with its class
version_added: 0.1.0
description:
  - Fails if sockets, cores, threads or GPUs differ, or memory is less. The message has both numbers, and the node is
    drained with it. GPUs are counted by their device files, and by C(nvidia-smi) if it is installed. GPUs of
    amd are counted by the kernel's topology (KFD) and their render nodes, without a tool.
  - A GPU of another vendor than the class has is a difference, too.
  - So is a GPU in the mode for instances (MIG) without any, because no program can use it. The message has the command
    that turns the mode off.
  - Run it before slurmd starts. Slurm silently accepts surplus GPUs, and slurmd waits for missing ones.
  - slurmd keeps its first topology in its spool directory and prefers it to the machine. The module runs
    C(slurmd -C) without that directory, so it finds a lost socket.
  - A drain with another reason stays. M(drawbridge.drawbridge.slurm_node_ready) lifts this one when the node is proved
    ready.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment:
  [drawbridge.drawbridge.view, drawbridge.drawbridge.intent.slurm_machine, drawbridge.drawbridge.intent.gpu_vendor]
options:
  name:
    description: NodeName of this host.
    type: str
  gpu_numbers:
    description: Numbers of the device files that must have a GPU, for vendors whose GPUs the kernel lists.
    type: list
    elements: int
    default: []
  gpu_modes:
    description: Partition modes of the GPUs, C(compute) and C(memory), such as C(SPX) and C(NPS1).
    type: dict
    default: {}
  gpu_instances:
    description:
      - Which instances of GPUs are no difference. C(none) are. C(any) is for a class that has instances.
      - C(used) is for GPUs whose instances M(drawbridge.drawbridge.gpu_instances) removes. Then the mode for instances
        is a difference only if the GPU has none.
    type: str
    choices: [any, used, none]
    default: none
  gpu_files:
    description: Path of the GPUs' device files without their numbers.
    type: path
    default: ""
attributes:
  check_mode:
    description: Predicts the steps of the next run, and fails as that run would.
    support: full
  diff_mode:
    description: The hardware and the drain reason.
    support: full
"""

EXAMPLES = r"""
- name: Compare the node with its class
  drawbridge.drawbridge.slurm_node_hardware:
    name: gpu01
    machine: {sockets: 2, cores_per_socket: 56, threads_per_core: 2, memory_mib: 2050000, gpus: 8}
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
from ..module_utils.drawbridge.slurm.nodes.hardware_layer import SLURM_NODE_HARDWARE


def main() -> None:
    """Run this layer."""
    main_of(SLURM_NODE_HARDWARE)


if __name__ == "__main__":
    main()
