# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Options of gate_token_host, which gate_token shares."""


class ModuleDocFragment:
    """File, ServiceAccount and API server."""

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
    description: Owner of the file.
    type: str
    default: root
  api_server:
    description: URL of the API server, for the host.
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
