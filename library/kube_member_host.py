#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The action kube_member's module on the host: all steps that need no kubeconfig."""

DOCUMENTATION = r"""
module: kube_member_host
short_description: Keep this host a member of its cluster, or remove it
version_added: 0.1.0
description:
  - Writes the kubelet's files, starts it, and waits until its Node is Ready and its certificate is verified.
  - Do not call it directly. M(drawbridge.drawbridge.kube_member) does, and it creates tokens and approves certificates.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.member]
options:
  look:
    description: Predict, as in check mode.
    type: bool
    default: false
  ca:
    description: The CA certificates of the API server, PEM.
    type: str
    default: ""
  token:
    description: A bootstrap token. A file holds it until the node has joined.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Predict the steps for a node
  drawbridge.drawbridge.kube_member_host:
    name: gpu01
    address: 192.0.2.21
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
    look: true
"""

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.api.host import Server
from ..module_utils.drawbridge.core.command import Command
from ..module_utils.drawbridge.core.converge import DeviceError
from ..module_utils.drawbridge.core.daemon.plan import DaemonState
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.kube.member.io import Bootstrap, Endpoint, Leaver, Member
from ..module_utils.drawbridge.kube.member.plan import NO_MEMBER, MemberState, findings, leave, plan
from ..module_utils.drawbridge.kube.member.text import BOOTSTRAP, UNIT, files
from ..module_utils.drawbridge.kube.node_object_io import NodeObject
from ..module_utils.drawbridge.kube.options import MEMBER
from ..module_utils.drawbridge.kube.unit_io import KubeUnit
from ..module_utils.drawbridge.nodes.use_io import NodeUse

COMMAND_S = 120.0
ARGUMENT_SPEC = {
    **MEMBER,
    "look": {"type": "bool", "default": False},
    "ca": {"type": "str", "default": ""},
    "token": {"type": "str", "default": "", "no_log": True},
}


def main() -> None:
    """Check, converge, or leave."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params, predicting = module.params, module.check_mode
    module.check_mode = module.check_mode or params["look"]
    run = Command(COMMAND_S)
    own = files(params) if params["join"] else {}
    want = MemberState(DaemonState(UNIT, own, passive=frozenset({params["ca_file"]})), True, True)
    use = NodeUse(run, params["name"])
    unit = KubeUnit(want.daemon, run, params["program"], [BOOTSTRAP] if params["join"] else [])
    node = NodeObject(Server(params["api_server"], params["ca_file"]), Path(params["certificate"]), params["name"])
    endpoint = Endpoint(params["address"], params["ca_file"], params["timeout_s"])
    member = Member(endpoint, unit, node, run, Bootstrap(params["api_server"], params["ca"], params["token"]))
    if params["state"] == "absent":
        leaver = Leaver(member, use)
        finish(module, leaver, leave, NO_MEMBER, in_use=leaver.in_use)
    elif not params["join"]:
        check(module, member, predicting)
    else:
        finish(module, member, plan, want, in_use=use.busy)


def check(module: AnsibleModule, member: Member, predicting: bool) -> Any:
    """Report the faults of a member that the site has joined.

    In check mode they are warnings: the start of the kubelet may be a predicted step of an earlier task.
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
