#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Prove that a node is ready for jobs."""

DOCUMENTATION = r"""
module: slurm_node_ready
short_description: Prove that a node is ready for jobs
version_added: 0.1.0
description:
  - Waits until the node has registered. Fails if it registered with other hardware than intended or runs with
    another slurm.conf than the controller. Fails too if its health check has a finding.
  - Resumes a node that Slurm had set to not responding, and lifts three drains. These are the drains of
    M(drawbridge.drawbridge.slurm_new_nodes), M(drawbridge.drawbridge.slurm_node_hardware) and the health check.
  - With O(maintenance), it lifts the drain of M(drawbridge.drawbridge.slurm_maintenance) with that name, too.
  - With O(passport), a node without a valid passport keeps its drain, which gets a reason that says so. That is
    C(pending), with the command that proves the node.
  - Any other drain stays. It is C(pending), with its reason and the user who set it.
  - In check mode, a slurmd that does not run yet is C(pending), not a failure.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.view]
options:
  name:
    description: NodeName of this host.
    type: str
  gres:
    description: Its GPUs as in C(Gres), such as C(gpu:h100:8); empty for none.
    type: str
    default: ""
  health:
    description: Path of the node's health check, which prints its findings with C(--look); empty for none.
    type: path
    default: ""
  passport:
    description: Path of the program that judges the node's passport; empty for a node that needs none.
    type: path
    default: ""
  maintenance:
    description: Name of the maintenance that has just ended here, whose drain is lifted; empty for none.
    type: str
    default: ""
  prove:
    description: Command that proves the node, for the message about a missing passport.
    type: str
    default: ""
attributes:
  check_mode:
    description:
      - Predicts the steps of the next run. Findings of the health check are C(pending), because that run may repair
        them before this task.
    support: full
  diff_mode:
    description: The node's state in Slurm's words.
    support: full
"""

EXAMPLES = r"""
- name: Prove that the node is ready for jobs
  drawbridge.drawbridge.slurm_node_ready:
    name: gpu01
    gres: gpu:h100:8
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Drains that only a person may lift, with their reasons, and the proof that a node needs.
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
from ..module_utils.drawbridge.slurm.nodes.ready_layer import SLURM_NODE_READY


def main() -> None:
    """Run this layer."""
    main_of(SLURM_NODE_READY)


if __name__ == "__main__":
    main()
