#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Client nodes of a Storage Scale cluster, in batches."""

DOCUMENTATION = r"""
module: mm_node
short_description: Make nodes licensed and running clients of an IBM Storage Scale (GPFS) cluster
version_added: 0.1.0
description:
  - Runs on one host that already belongs to the cluster and may administer it. All nodes join with one C(mmaddnode),
    get their licence with one C(mmchlicense) and start with one C(mmstartup); a busy configuration lock is waited for.
  - What counts is what C(mmlscluster), C(mmlslicense) and C(mmgetstate) say afterwards. Adding nodes succeeds for the
    tool when it could add some of them; the others are a failure here, with the tool's reason.
  - A member whose state the cluster does not know (it is off, or was reinstalled) is reported as C(pending) and holds
    up no other node. Nodes never become quorum or manager, and none is ever removed.
author: Drawbridge contributors
options:
  nodes:
    description: Nodes that shall be clients, by the name under which every node of the cluster resolves them.
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
      - Without it the module fails where a licence is missing, in check mode too, and has changed nothing.
    type: bool
    default: false
  variables:
    description: The variables that give these options their values, by option, for messages that say what to set.
    type: dict
    default: {}
  mm_path:
    description: Directory of the mm commands.
    type: path
    default: /usr/lpp/mmfs/bin
  lock_wait_s:
    description: Seconds for which a busy configuration lock is tried again.
    type: int
    default: 600
  settle_s:
    description: Seconds that started nodes may take to become active.
    type: int
    default: 300
  timeout_s:
    description: Seconds after which one mm command is killed, plus five for each node.
    type: int
    default: 120
attributes:
  check_mode:
    description: Says what it would do and changes nothing.
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
  description: What was changed, or would be, as sentences.
  returned: always
  type: list
  elements: str
pending:
  description: What can't be done now, and why.
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

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT
from ..module_utils.drawbridge.core.converge import Settle
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.storage.gpfs.io import MM_PATH, Mm
from ..module_utils.drawbridge.storage.gpfs.members.io import Cluster
from ..module_utils.drawbridge.storage.gpfs.members.plan import ACTIVE, Member, Membership, plan

ARGUMENT_SPEC = {
    "nodes": {"type": "list", "elements": "str", "required": True},
    "cluster": {"type": "str", "default": ""},
    "accept_license": {"type": "bool", "default": False},
    **VARIABLES_ARGUMENT,
    "mm_path": {"type": "path", "default": MM_PATH},
    "lock_wait_s": {"type": "int", "default": 600},
    "settle_s": {"type": "int", "default": 300},
    "timeout_s": {"type": "int", "default": 120},
}


SECONDS_A_NODE = 5
"""mmaddnode was seen to take two to three seconds for each node, one after the other."""


def main() -> None:
    """Converge the membership of all nodes."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    nodes = params["nodes"]
    mm = Mm(Command(params["timeout_s"] + SECONDS_A_NODE * len(nodes)), params["mm_path"], params["lock_wait_s"])
    device = Cluster(mm, nodes, params["cluster"])
    want = Membership(dict.fromkeys(nodes, Member("client", ACTIVE)))
    finish(module, device, plan, want, settle=Settle(params["settle_s"]))


if __name__ == "__main__":
    main()
