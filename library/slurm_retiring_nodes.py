#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Drain nodes that retire, and wait for their jobs."""

DOCUMENTATION = r"""
module: slurm_retiring_nodes
short_description: Drain nodes that retire, and wait for their jobs
version_added: 0.1.0
description:
  - Runs on the controller. It drains the given nodes with one command and Drawbridge's reason, then waits for their
    jobs. It ends no job.
  - A node with a job after that time is reported as pending. A later run goes on.
  - A node that is drained already keeps its reason. A node that slurm.conf does not have counts as empty.
author: Drawbridge contributors (@drawbridge)
options:
  nodes:
    description: NodeNames.
    type: list
    elements: str
    required: true
  wait_s:
    description: Longest wait for running jobs, in seconds. Check mode does not wait.
    type: int
    default: 600
attributes:
  check_mode:
    description: Predicts the steps of the next run.
    support: full
  diff_mode:
    description: The nodes' states in Slurm's words.
    support: full
"""

EXAMPLES = r"""
- name: Drain two nodes
  drawbridge.drawbridge.slurm_retiring_nodes:
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
empty:
  description: Nodes that no job uses and that get none.
  returned: success
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
from ..module_utils.drawbridge.slurm.nodes.retire_layer import SLURM_RETIRING_NODES


def main() -> None:
    """Run this layer."""
    main_of(SLURM_RETIRING_NODES)


if __name__ == "__main__":
    main()
