#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Node classes and settings of a Storage Scale cluster."""

DOCUMENTATION = r"""
module: mm_config
short_description: Set attributes of IBM Storage Scale (GPFS) for node classes
version_added: 0.1.0
description:
  - Runs on one admin host. It creates the classes with C(mmcrnodeclass), keeps their members, and sets attributes
    with one or two C(mmchconfig) for each class. Values are compared in one unit, C(16G) equals C(16384M).
  - Attributes that GPFS can change while it runs are set with C(-i). The others take effect when a node restarts
    GPFS, which M(drawbridge.drawbridge.mm_mount) does once the node has no job. C(pagepool) is never resized in a
    running daemon.
  - Attributes that the classes have and O(classes) does not list are reset. Other classes and nodes stay as they are.
author: Drawbridge contributors (@drawbridge)
options:
  classes:
    description: Node classes that belong to Drawbridge.
    type: list
    elements: dict
    required: true
    suboptions:
      name:
        description: Name of the class in the cluster.
        type: str
        required: true
      nodes:
        description: Its nodes. Those that are no members of the cluster are left out.
        type: list
        elements: str
        required: true
      settings:
        description: Attributes of C(mmchconfig) with their values.
        type: dict
        required: true
  only:
    description: Nodes to add to their classes without touching others; empty for exactly the nodes of O(classes).
    type: list
    elements: str
    default: []
  daemon_suffix:
    description: Text after a node's name that gives the name of its daemon interface.
    type: str
    default: ""
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  lock_wait_s:
    description: Seconds for which the module retries while the configuration lock is busy.
    type: int
    default: 600
  timeout_s:
    description: Seconds after which one mm command is killed.
    type: int
    default: 120
attributes:
  check_mode:
    description: Predicts the steps of the next run, refusals included.
    support: full
  diff_mode:
    description: Each class with its members and attributes.
    support: full
"""

EXAMPLES = r"""
- name: Give GPU nodes a larger page pool
  drawbridge.drawbridge.mm_config:
    classes:
      - name: drawbridge_h100
        nodes: [gpu01, gpu02]
        settings: {pagepool: 16G, workerThreads: "1024"}
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
from ..module_utils.drawbridge.storage.gpfs.config.layer import MM_CONFIG


def main() -> None:
    """Run this layer."""
    main_of(MM_CONFIG)


if __name__ == "__main__":
    main()
