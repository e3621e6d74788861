# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Common options of gate_token and gate_token_file."""


class ModuleDocFragment:
    """The file of a token, and the token's ServiceAccount."""

    DOCUMENTATION = r"""
options:
  path:
    description: File of the token.
    type: path
    required: true
  namespace:
    description: Namespace of the ServiceAccount.
    type: str
    required: true
  name:
    description: Name of the ServiceAccount.
    type: str
    required: true
  owner:
    description: User who may read the file, besides root.
    type: str
    default: root
  api_server:
    description: URL of the API server, as seen from the host.
    type: str
    required: true
  ca_file:
    description: CA certificate of the API server, a path on the host.
    type: path
    required: true
  min_left_s:
    description: Seconds that a token must still be valid. Other tokens are replaced.
    type: int
    default: 21600
"""
