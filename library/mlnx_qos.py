#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""QoS of a node's RDMA ports through mlnx_qos."""

DOCUMENTATION = r"""
module: mlnx_qos
short_description: Make RDMA ports trust DSCP and keep exactly the lossless priorities lossless
version_added: 0.1.0
description:
  - Brings all ports of a host to the same QoS in one call, through NVIDIA's C(mlnx_qos).
  - Settles DCBX, trust and the DSCP map first and PFC last, one port at a time, and reads every port again, because the
    tool's exit codes don't tell. Entries of the map that are not named here stay as they are.
  - B(A change of PFC bounces the link of its port) (mlx5 resets the port). It needs O(may_flap_links); without it
    the module fails, in check mode too, and has changed nothing. A port that is right is never written.
  - While a Slurm job or a job's pod is on the node such a change waits, and is C(pending). The next port's link bounces
    when the last one's is up again.
  - Settings last until the next reset of the NIC or boot; role C(fabric_nic) installs what makes them again.
author: Drawbridge contributors
options:
  interfaces:
    description: Network devices of the RDMA ports.
    type: list
    elements: str
    required: true
  lossless_priorities:
    description: Priorities that PFC keeps lossless, exactly these.
    type: list
    elements: int
    required: true
  dscp_priorities:
    description: DSCPs and the priority that each of them lands in.
    type: list
    elements: dict
    required: true
    suboptions:
      dscp:
        description: DSCP, 0 to 63.
        type: int
        required: true
      priority:
        description: Priority, 0 to 7.
        type: int
        required: true
  may_flap_links:
    description: Whether links may go down for the moment that a change of PFC takes.
    type: bool
    default: false
  variables:
    description: The variables that give these options their values, by option, for messages that say what to set.
    type: dict
    default: {}
  slurm_node:
    description: The node's name in Slurm.
    type: str
    required: true
  timeout_s:
    description: Seconds after which one run of the tool is killed.
    type: int
    default: 30
attributes:
  check_mode:
    description: Says what it would do and changes nothing.
    support: full
  diff_mode:
    description: The ports as options of C(mlnx_qos).
    support: full
"""

EXAMPLES = r"""
- name: Make priority 3 lossless on both rails
  drawbridge.drawbridge.mlnx_qos:
    interfaces: [ens3f0np0, ens3f1np1]
    lossless_priorities: [3]
    dscp_priorities:
      - {dscp: 26, priority: 3}
      - {dscp: 48, priority: 6}
    may_flap_links: true
    slurm_node: "{{ inventory_hostname }}"
"""

RETURN = r"""
steps:
  description: What was changed, or would be, as sentences.
  returned: always
  type: list
  elements: str
link_flap:
  description: Ports whose link the change bounced, or would.
  returned: success
  type: list
  elements: str
pending:
  description: Steps that wait until nobody uses the node, and who does.
  returned: always
  type: list
  elements: str
done:
  description: Steps that took.
  returned: failure
  type: list
  elements: str
left:
  description: Steps that did not.
  returned: failure
  type: list
  elements: str
"""

from collections.abc import Sequence

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT
from ..module_utils.drawbridge.core.converge import Step
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.nic.io import NicPorts
from ..module_utils.drawbridge.nic.plan import NicQos, flapping, plan, wanted
from ..module_utils.drawbridge.nodes.use_io import NodeUse

ARGUMENT_SPEC = {
    "interfaces": {"type": "list", "elements": "str", "required": True},
    "lossless_priorities": {"type": "list", "elements": "int", "required": True},
    "dscp_priorities": {
        "type": "list",
        "elements": "dict",
        "required": True,
        "options": {"dscp": {"type": "int", "required": True}, "priority": {"type": "int", "required": True}},
    },
    "may_flap_links": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
    "slurm_node": {"type": "str", "required": True},
    "timeout_s": {"type": "int", "default": 30},
}


def flaps(steps: Sequence[Step[NicQos]]) -> dict[str, list[str]]:
    """What the result tells besides the steps."""
    return {"link_flap": flapping(steps)}


def main() -> None:
    """Converge all ports of the host."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    tools = {tool: module.get_bin_path(tool, required=True) or tool for tool in ("ip", "mlnx_qos")}
    want = wanted(params)
    run = Command(params["timeout_s"])
    use = NodeUse(run, params["slurm_node"])
    finish(module, NicPorts(run, tools, want), plan, want, in_use=use.busy, results_of=flaps)


if __name__ == "__main__":
    main()
