#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client nodes of a Storage Scale cluster, in batches."""

DOCUMENTATION = r"""
module: mm_node
short_description: Make nodes licensed and running clients of an IBM Storage Scale (GPFS) cluster
version_added: 0.1.0
description:
  - Runs on one admin host of the cluster. All nodes join with one C(mmaddnode), get their licence with one
    C(mmchlicense) and start with one C(mmstartup). It waits for a busy configuration lock.
  - C(mmlscluster), C(mmlslicense) and C(mmgetstate) are the proof. C(mmaddnode) succeeds when it could add some of the
    nodes; this module fails for the others, with the tool's reason.
  - A member whose state is unknown to the cluster (it is off, or was reinstalled) is C(pending), and the others go on.
    Nodes never become quorum or manager, and the module never removes one.
author: Drawbridge contributors
options:
  nodes:
    description: Nodes that must be clients, by names that every node of the cluster resolves.
    type: list
    elements: str
    required: true
  cluster:
    description: Name of the cluster that this host must belong to; empty for any.
    type: str
    default: ""
  accept_license:
    description:
      - Whether you accept IBM's licence agreement for each node that gets a client licence.
      - Without it the module fails if a licence is missing, and changes nothing, in check mode too.
    type: bool
    default: false
  variables:
    description: Names of the variables that set these options, by option, for error messages.
    type: dict
    default: {}
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  lock_wait_s:
    description: Seconds for which the module retries while the configuration lock is busy.
    type: int
    default: 600
  settle_s:
    description: Seconds in which started nodes must become active.
    type: int
    default: 300
  timeout_s:
    description: Seconds after which one mm command is killed, plus five for each node.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Each member with its licence and its daemon's state.
    support: full
"""

EXAMPLES = r"""
- name: Let two nodes join
  drawbridge.drawbridge.mm_node:
    nodes: [gpu01, gpu02]
    accept_license: true
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
from ..module_utils.drawbridge.storage.gpfs.members.layer import MM_NODE


def main() -> None:
    """Run this layer."""
    main_of(MM_NODE)


if __name__ == "__main__":
    main()
