#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Drain a wave of nodes for maintenance, within limits."""

DOCUMENTATION = r"""
module: slurm_maintenance
short_description: Drain a wave of nodes for maintenance, within limits
version_added: 0.1.0
description:
  - Runs on the controller. It drains the given nodes with one command and a reason that names the maintenance, then
    waits for their jobs. It ends no job.
  - A node is left as it is, and C(pending), while one of its groups has as many nodes out of service as it may have.
    So is a node that another reason keeps out of service.
  - M(drawbridge.drawbridge.slurm_node_ready) lifts the drain when it is given the same maintenance.
author: Drawbridge contributors (@drawbridge)
options:
  nodes:
    description: NodeNames of the wave.
    type: list
    elements: str
    required: true
  done:
    description: NodeNames that have had this maintenance. Those that it still keeps drained are returned.
    type: list
    elements: str
    default: []
  maintenance:
    description: Name of the maintenance, the same in each of its runs.
    type: str
    required: true
  until:
    description: The expected end, for people who read the reason.
    type: str
    default: ""
  groups:
    description: Limits of nodes out of service, of view C(maintenance) of P(drawbridge.drawbridge.view#filter).
    type: list
    elements: dict
    default: []
    suboptions:
      name:
        description: Name of the group in messages.
        type: str
        required: true
      nodes:
        description: Hostlist of its nodes.
        type: str
        required: true
      most:
        description: As many of them may be out of service at once, for whatever reason.
        type: int
        required: true
  wait_s:
    description: Longest wait for running jobs, in seconds. Check mode does not wait.
    type: int
    default: 600
  failed:
    description: Why the maintenance left these nodes unfit for jobs. It becomes their reason.
    type: str
    default: ""
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
  drawbridge.drawbridge.slurm_maintenance:
    nodes: [gpu05, gpu06]
    maintenance: 2026-11-kernel
    until: 2026-11-25 18:00
    groups: [{name: partition ai-train, nodes: "gpu[01-08]", most: 2}]
"""

RETURN = r"""
steps:
  description: Changes made, or predicted in check mode, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Nodes that a later run takes, and why.
  returned: always
  type: list
  elements: str
empty:
  description: Nodes that this maintenance has drained and that no job uses.
  returned: success, without O(failed)
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
from ..module_utils.drawbridge.slurm.maintenance.layer import SLURM_MAINTENANCE


def main() -> None:
    """Run this layer."""
    main_of(SLURM_MAINTENANCE)


if __name__ == "__main__":
    main()
