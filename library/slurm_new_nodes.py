#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep jobs off nodes that are not built yet."""

DOCUMENTATION = r"""
module: slurm_new_nodes
short_description: Keep jobs off nodes that are not built yet
version_added: 0.1.0
description:
  - Runs on the controller. It drains the given nodes that do not answer slurmctld, with one command and Drawbridge's
    reason. M(drawbridge.drawbridge.slurm_node_ready) lifts that drain when the node is proved ready.
  - A node that answers is in service and is left alone. So is a node that an administrator has drained or set down.
author: Drawbridge contributors (@drawbridge)
options:
  nodes:
    description: NodeNames.
    type: list
    elements: str
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
- name: Keep jobs off two new nodes
  drawbridge.drawbridge.slurm_new_nodes:
    nodes: [gpu05, gpu06]
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
from ..module_utils.drawbridge.slurm.nodes.new_layer import SLURM_NEW_NODES


def main() -> None:
    """Run this layer."""
    main_of(SLURM_NEW_NODES)


if __name__ == "__main__":
    main()
