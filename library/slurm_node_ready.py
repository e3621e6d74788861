#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Prove that a node registered with all that it should have."""

DOCUMENTATION = r"""
module: slurm_node_ready
short_description: Prove that a node registered with all that it should have
version_added: 0.1.0
description:
  - Waits, bounded, until the controller knows the node, and fails with a sentence when it registered with other
    hardware than intended or with another slurm.conf than the controller's, or when its health check finds something.
  - Brings a node back that M(drawbridge.drawbridge.slurm_new_nodes) kept jobs off, that its own health check had
    drained, or that Slurm itself had given up as not responding, since it has proved itself now. No other drain is ever
    lifted, only reported as C(pending) with its reason and who set it.
  - In check mode on a host without a running slurmd, says so in C(pending) instead of failing.
author: Drawbridge contributors
options:
  name:
    description: NodeName of this host.
    type: str
    required: true
  gres:
    description: Its GPUs as C(Gres) writes them, such as C(gpu:h100:8); empty for none.
    type: str
    default: ""
  health:
    description: Path of the node's health check, which C(--look) makes print what is wrong; empty for none.
    type: path
    default: ""
  settle_s:
    description:
      - How long the registration may take, in seconds. Slurm asks a node that has missed an answer again only after a
        minute or two.
    type: float
    default: 240
  timeout_s:
    description: How long one call of scontrol may take, in seconds. The health check has limits of its own.
    type: float
    default: 30
attributes:
  check_mode:
    description:
      - Predicts the steps of the next run from what it reads. What the health check finds is C(pending), a run may
        have mended it before it comes here.
    support: full
  diff_mode:
    description: The node's state as Slurm writes it.
    support: full
"""

EXAMPLES = r"""
- name: Prove that the node is ready for jobs
  drawbridge.drawbridge.slurm_node_ready:
    name: gpu01
    gres: gpu:h100:8
"""

RETURN = r"""
steps:
  description: What was done, or in check mode would be done, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What keeps jobs away that only a person may end, and why.
  returned: always
  type: list
  elements: str
"""

from functools import partial
from typing import Callable

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.check_mode import unknown
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import DeviceError, Settle
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.core.units import Unit
from ..module_utils.drawbridge.slurm.nodes.ready_io import LOOK_S, Node, illness
from ..module_utils.drawbridge.slurm.nodes.ready_plan import plan, ready

ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "gres": {"type": "str", "default": ""},
    "health": {"type": "path", "default": ""},
    "settle_s": {"type": "float", "default": 240},
    "timeout_s": {"type": "float", "default": 30},
}


def main() -> None:
    """Wire the node's record to the plan."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    run = Command(params["timeout_s"])
    if not Unit("slurmd.service", run).read().active:
        unknown(module, "slurmd.service does not run yet")
    look = partial(illness, Command(LOOK_S), params["health"])
    # a run mends mounts and ports before it comes here, a check does not
    if module.check_mode and (wrong := _told(look)):
        unknown(module, f"{params['name']} is not healthy ({wrong})")
    node = Node(run, params["name"], params["gres"], str if module.check_mode else look, params["settle_s"])
    finish(module, node, plan, ready(params["name"]), Settle(timeout_s=params["settle_s"]))


def _told(look: Callable[[], str]) -> str:
    """What is wrong; that nobody could look is, too."""
    try:
        return look()
    except DeviceError as err:
        return str(err)


if __name__ == "__main__":
    main()
