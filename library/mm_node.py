#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client nodes of a Storage Scale cluster, in batches."""

DOCUMENTATION = r"""
module: mm_node
short_description: Make nodes licensed clients of an IBM Storage Scale (GPFS) cluster, or delete them
version_added: 0.1.0
description:
  - Runs on one admin host of the cluster. All nodes join with one C(mmaddnode) and get their licence with one
    C(mmchlicense). It waits for a busy configuration lock.
  - C(mmlscluster) and C(mmlslicense) are the proof. A node that the cluster refuses, or that belongs to another
    cluster, is C(pending) with the reason, and the others go on. M(drawbridge.drawbridge.mm_mount) then fails on that
    node.
  - A member that has lost its configuration gets it back with one C(mmsdrrestore) for all such nodes.
  - Nodes never become quorum or manager. The module creates no cluster, and starts and stops no daemon.
author: Drawbridge contributors (@drawbridge)
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
  daemon_suffix:
    description: Text after a node's name that gives the name of its daemon interface.
    type: str
    default: ""
  admin_suffix:
    description: Text after a node's name that gives the name of its admin interface.
    type: str
    default: ""
  local:
    description:
      - What nodes have of a cluster, by name, as M(drawbridge.drawbridge.mm_software) returns it in C(local).
      - A member without a C(cluster_id) was reinstalled.
    type: dict
    default: {}
  ask_first:
    description: Whether only nodes in O(local) join, because the others have no software yet.
    type: bool
    default: false
  absent:
    description: Nodes that must leave the cluster. GPFS must be down on them.
    type: list
    elements: str
    default: []
  dead:
    description: Nodes in O(absent) that may leave although they do not answer, because they are lost permanently.
    type: list
    elements: str
    default: []
  stopping:
    description:
      - Nodes in O(absent) on which the run stops GPFS first. Only check mode reads it, since GPFS goes on there.
    type: list
    elements: str
    default: []
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
  timeout_s:
    description: Seconds after which one mm command is killed, plus five for each node.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Each member with its licence.
    support: full
"""

EXAMPLES = r"""
- name: Let two nodes join
  drawbridge.drawbridge.mm_node:
    nodes: [gpu01, gpu02]
    accept_license: true

- name: Delete a node that has unmounted and stopped GPFS
  drawbridge.drawbridge.mm_node:
    nodes: []
    absent: [gpu07]
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
