#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The host's half of the action gate_token: check the file, write a new token."""

DOCUMENTATION = r"""
module: gate_token_file
short_description: Keep a ServiceAccount's token in a file of a host
version_added: 0.1.0
description:
  - Checks with the API server that the token in the file is the ServiceAccount's, and writes another if not.
  - Runs on the host for M(drawbridge.drawbridge.gate_token), which requests tokens; use that one.
author: Drawbridge contributors
extends_documentation_fragment: [drawbridge.drawbridge.token_file]
options:
  token:
    description: The token to write if the file needs one. Without it the need is reported as C(pending).
    type: str
attributes:
  check_mode:
    description: Predicts exactly.
    support: full
  diff_mode:
    description: Shows bearer, owner and mode, never the token.
    support: full
"""

EXAMPLES = r"""
- name: Check a token
  drawbridge.drawbridge.gate_token_file:
    path: /var/lib/drawbridge/gate/node.token
    namespace: drawbridge-nodes
    name: gpu01
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
"""

RETURN = r"""
steps:
  description: Steps of this run, or in check mode of the next.
  returned: always
  type: list
  elements: str
"""

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

from ..module_utils.drawbridge.core.api.host import Server
from ..module_utils.drawbridge.core.converge import Step
from ..module_utils.drawbridge.core.module import finish
from ..module_utils.drawbridge.gate.tokens.io import TokenFile
from ..module_utils.drawbridge.gate.tokens.plan import TOKEN_FILE, TokenState, plan

MODE = "0400"
ARGUMENT_SPEC = {**TOKEN_FILE, "token": {"type": "str", "no_log": True}}


def main() -> None:
    """Converge one file."""
    module = AnsibleModule(argument_spec=ARGUMENT_SPEC, supports_check_mode=True)
    params = module.params
    want = TokenState(f"system:serviceaccount:{params['namespace']}:{params['name']}", True, params["owner"], MODE)
    server = Server(params["api_server"], params["ca_file"])
    file = TokenFile(Path(params["path"]), server, want, params["min_left_s"], params["token"])

    def planned(have: TokenState, wanted: TokenState) -> list[Step[TokenState]]:
        return plan(have, wanted, handed_over=params["token"] is not None)

    finish(module, file, planned, want)


if __name__ == "__main__":
    main()
