#!/usr/bin/python
# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The host's side of the action gate_token: check the file, write a new token."""

DOCUMENTATION = r"""
module: gate_token_host
short_description: Keep a ServiceAccount's token in a file of a host
version_added: 0.1.0
description:
  - Checks with the API server that the token in the file is the ServiceAccount's, and writes another if not.
  - Runs on the host for M(drawbridge.drawbridge.gate_token), which requests tokens; use that one.
author: Drawbridge contributors (@drawbridge)
extends_documentation_fragment: [drawbridge.drawbridge.token_file]
options:
  token:
    description: The token to write if the file needs one.
    type: str
    default: ""
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
  drawbridge.drawbridge.gate_token_host:
    path: /var/lib/drawbridge/gate/node.token
    namespace: drawbridge-nodes
    name: gpu01
    api_server: https://api.example.org:6443
    ca_file: /etc/kubernetes/pki/ca.crt
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
from ..module_utils.drawbridge.gate.tokens.layer import GATE_TOKEN_HOST


def main() -> None:
    """Run this layer."""
    main_of(GATE_TOKEN_HOST)


if __name__ == "__main__":
    main()
