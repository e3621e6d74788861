#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Keep jobs off nodes that are not built yet."""

DOCUMENTATION = r"""
module: slurm_new_nodes
short_description: Keep jobs off nodes that are not built yet
version_added: 0.1.0
description:
  - Runs on the controller. Of the given nodes those that do not answer slurmctld are drained, all with one command and
    with a reason of ours; M(drawbridge.drawbridge.slurm_node_ready) lifts that drain, and only that one, once the node
    has proved itself.
  - A node that answers is in service and is left alone, and so is one that somebody has drained or set down.
author: Drawbridge contributors
options:
  nodes:
    description: NodeNames.
    type: list
    elements: str
    required: true
  settle_s:
    description: How long a node in service that has missed an answer of slurmctld has for the next one, in seconds.
    type: float
    default: 150
  timeout_s:
    description: How long one call of scontrol may take, in seconds.
    type: float
    default: 30
attributes:
  check_mode:
    description: Predicts the steps of the next run from what it reads.
    support: full
  diff_mode:
    description: The nodes' states as Slurm writes them.
    support: full
"""

EXAMPLES = r"""
- name: Keep jobs off two new nodes
  drawbridge.drawbridge.slurm_new_nodes:
    nodes: [gpu05, gpu06]
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What can't be predicted, and why.
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
from ..module_utils.drawbridge.slurm.nodes.new_plan import kept_off, plan

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "settle_s": {"type": "float", "default": 150},
    "timeout_s": {"type": "float", "default": 30},
}


def main() -> None:
    """Wire the nodes' records to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    run, nodes = Command(module.params["timeout_s"]), module.params["nodes"]
    if not Unit("slurmctld.service", run).read().active:
        unknown(module, "slurmctld.service does not run yet")
    finish(module, Records(run, nodes, module.params["settle_s"]), plan, kept_off(nodes))


if __name__ == "__main__":
    main()
