# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The options that say whose token a file holds: of the module on the host, and of the one that asks for tokens."""


class ModuleDocFragment:
    """Options of gate_token_file that gate_token takes too."""

    DOCUMENTATION = r"""
options:
  path:
    description: The file.
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
    description: Who may read the file, beside root.
    type: str
    default: root
  api_server:
    description: URL of the API server, as the host knows it.
    type: str
    required: true
  ca_file:
    description: CA certificate of the API server, a path on the host.
    type: path
    required: true
  min_left_s:
    description: A token that ends sooner than this is replaced.
    type: int
    default: 21600
"""
