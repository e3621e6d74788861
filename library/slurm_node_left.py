#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Take a drained node out of Slurm."""

DOCUMENTATION = r"""
module: slurm_node_left
short_description: Take a drained node out of Slurm
version_added: 0.1.0
description:
  - Stops and disables the gate's timer, slurmd and munge on this host, then removes the munge key and the gate's token.
  - It waits, as pending, while the kubelet runs, a job uses the node, or the node is not drained.
  - It removes no packages. The node stays in slurm.conf until the intent no longer has it.
author: Drawbridge contributors (@drawbridge)
options:
  name:
    description: NodeName of this host.
    type: str
    required: true
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The nodes' states in Slurm's words.
    support: full
"""

EXAMPLES = r"""
- name: Take this node out of Slurm
  drawbridge.drawbridge.slurm_node_left:
    name: "{{ inventory_hostname }}"
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be predicted, and why.
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
from ..module_utils.drawbridge.slurm.nodes.leave_layer import SLURM_NODE_LEFT


def main() -> None:
    """Run this layer."""
    main_of(SLURM_NODE_LEFT)


if __name__ == "__main__":
    main()
