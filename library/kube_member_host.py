#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The host's half of the action kube_member: look at the node's membership, and do what needs no kubeconfig."""

DOCUMENTATION = r"""
module: kube_member_host
short_description: Keep this host a member of its cluster, or none
version_added: 0.1.0
description:
  - Writes how the kubelet is started, starts it, and waits until its Node is Ready and its certificate is verified.
  - Runs on the host for M(drawbridge.drawbridge.kube_member), which makes tokens and signs certificates; use that one.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.member]
options:
  look:
    description: Predict, as in check mode.
    type: bool
    default: false
  ca_file:
    description: Where the API server's CA certificate stands on the host.
    type: path
    required: true
  ca:
    description: The CA certificates of the API server, PEM.
    type: str
    default: ""
  token:
    description: A bootstrap token. It is written to a file that is removed when the node has joined.
    type: str
    default: ""
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Shows the unit's files and the membership, never a token or a key.
    support: full
"""

EXAMPLES = r"""
- name: Look at a node
  drawbridge.drawbridge.kube_member_host:
    name: gpu01
    address: 192.0.2.21
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
    look: true
"""

RETURN = r"""
steps:
  description: What was done, or would be.
  returned: always
  type: list
  elements: str
pending:
  description: What has to wait, and for what.
  returned: always
  type: list
  elements: str
"""

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.api.host import Server
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.consent import VARIABLES_ARGUMENT
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.daemon.plan import DaemonState
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.kube.member.io import Invitation, Leaver, Member, Place
from ..module_utils.drawbridge.kube.member.plan import NO_MEMBER, MemberState, findings, leave, plan
from ..module_utils.drawbridge.kube.member.text import BOOTSTRAP, UNIT, files
from ..module_utils.drawbridge.kube.node_object_io import OwnNode
from ..module_utils.drawbridge.kube.unit_io import KubeUnit
from ..module_utils.drawbridge.nodes.use_io import NodeUse

COMMAND_S = 120.0
ARGUMENT_SPEC = {
    "name": {"type": "str", "required": True},
    "address": {"type": "str", "required": True},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
    "join": {"type": "bool", "default": True},
    "look": {"type": "bool", "default": False},
    "api_server": {"type": "str", "required": True},
    "ca_file": {"type": "path", "required": True},
    "ca": {"type": "str", "default": ""},
    "config": {"type": "dict", "default": {}},
    "flags": {"type": "list", "elements": "str", "default": []},
    "program": {"type": "path", "default": "/usr/bin/kubelet"},
    "certificate": {"type": "path", "default": "/var/lib/kubelet/pki/kubelet-client-current.pem"},
    "token": {"type": "str", "default": "", "no_log": True},
    "timeout_s": {"type": "int", "default": 90},
    **VARIABLES_ARGUMENT,
}


def main() -> None:
    """Look, converge, or leave."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params, predicting = module.params, module.check_mode
    module.check_mode = module.check_mode or params["look"]
    run = Command(COMMAND_S)
    ours = files(params) if params["join"] else {}
    want = MemberState(DaemonState(UNIT, ours, passive=frozenset({params["ca_file"]})), True, True)
    use = NodeUse(run, params["name"])
    unit = KubeUnit(want.daemon, run, params["program"], [BOOTSTRAP] if params["join"] else [])
    node = OwnNode(Server(params["api_server"], params["ca_file"]), Path(params["certificate"]), params["name"])
    place = Place(params["address"], params["ca_file"], params["timeout_s"])
    member = Member(place, unit, node, run, Invitation(params["api_server"], params["ca"], params["token"]))
    if params["state"] == "absent":
        leaver = Leaver(member, use)
        finish(module, leaver, leave, NO_MEMBER, in_use=leaver.in_use)
    elif not params["join"]:
        judge(module, member, predicting)
    else:
        finish(module, member, plan, want, in_use=use.busy)


def judge(module: AnsibleModule, member: Member, predicting: bool) -> Any:
    """The site makes members itself: say what is wrong with this one.

    In check mode that is a warning: what starts the kubelet may have been predicted only, earlier in the same run.
    """
    try:
        found = findings(member.read(), module.params)
    except DeviceError as err:
        found = [str(err)]
    if found and not predicting:
        module.fail_json(msg="\n".join(found), changed=False, faults=found)
    for fault in found:
        module.warn(fault)
    module.exit_json(changed=False, steps=[], pending=found)


if __name__ == "__main__":
    main()
