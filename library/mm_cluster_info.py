#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a Storage Scale cluster knows of nodes."""

DOCUMENTATION = r"""
module: mm_cluster_info
short_description: Read which nodes an IBM Storage Scale (GPFS) cluster lacks, or can't reach
version_added: 0.1.0
description:
  - Runs on an admin host of the cluster and changes nothing. It fails if the host does not answer for its cluster.
author: Drawbridge contributors (@drawbridge)
options:
  nodes:
    description: Nodes to look for.
    type: list
    elements: str
    required: true
  cluster:
    description: Name of the cluster that this host must belong to; empty for any.
    type: str
    default: ""
  daemon_suffix:
    description: Text after a node's name that gives the name of its daemon interface.
    type: str
    default: ""
  admin_suffix:
    description: Text after a node's name that gives the name of its admin interface.
    type: str
    default: ""
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  timeout_s:
    description: Seconds after which one mm command is killed, plus five for each node.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: There are no changes.
    support: full
"""

EXAMPLES = r"""
- name: Find the nodes that have to join
  drawbridge.drawbridge.mm_cluster_info:
    nodes: [gpu01, gpu02]
  register: found
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
cluster_id:
  description: The cluster's id.
  returned: success
  type: str
absent:
  description: Nodes that are no members.
  returned: success
  type: list
  elements: str
unknown:
  description: Members whose state the cluster does not know, because they are off or have lost their configuration.
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
from ..module_utils.drawbridge.storage.gpfs.members.layer import MM_CLUSTER_INFO


def main() -> None:
    """Run this layer."""
    main_of(MM_CLUSTER_INFO)


if __name__ == "__main__":
    main()
