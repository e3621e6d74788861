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
author: Drawbridge contributors
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
  description: The changes, in check mode the predicted ones, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: Changes that can't be predicted, and why.
  returned: always
  type: list
  elements: str
"""

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.nodes.new_io import Records
from ..module_utils.drawbridge.slurm.nodes.new_plan import drained, plan

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
}
SETTLE_S = 150
"""Time of a node in service that missed slurmctld's ping to answer the next one."""


def main() -> None:
    """Wire the nodes' records to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run, nodes = Command(timeout_s=30), module.params["nodes"]
    if not Unit("slurmctld.service", run).read().active:
        unknown(module, "slurmctld.service does not run yet")
    finish(module, Records(run, nodes, SETTLE_S), plan, drained(nodes))


if __name__ == "__main__":
    main()
