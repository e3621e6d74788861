#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What earlier runs placed on a node."""

DOCUMENTATION = r"""
module: placed_files
short_description: Remove files of Drawbridge that the intent has no more
version_added: 0.1.0
description:
  - Reads the record of what each role placed on this host, and removes all that is not in O(placed). It stops the units
    among it. Drop-ins and hooks are removed first, programs last.
  - M(drawbridge.drawbridge.node_visit) runs it as its last layer.
  - On a host without a record, it begins with those files of earlier releases that exist.
  - While a prolog or an epilog runs, hooks of Slurm stay until the next run.
author: Drawbridge contributors (@drawbridge)
options:
  placed:
    description: What each role places, as a list of pairs of C(file), C(block) or C(tree) and a path.
    type: dict
    default: {}
  gone:
    description: Roles of which nothing is wanted, or patterns such as C(*). Roles in neither option stay as they are.
    type: list
    elements: str
    default: []
  record:
    description: File of the record on this host.
    type: path
    default: /var/lib/drawbridge/placed.json
  busy_lock:
    description: File that prologs and epilogs lock.
    type: path
    default: /run/drawbridge/slurm-dispatch.lock
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Paths that are removed.
    support: full
"""

EXAMPLES = r"""
- name: Remove what fabric_nic placed on this node
  drawbridge.drawbridge.placed_files:
    gone: [fabric_nic]
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
from ..module_utils.drawbridge.site.placed_layer import PLACED_FILES


def main() -> None:
    """Run this layer."""
    main_of(PLACED_FILES)


if __name__ == "__main__":
    main()
