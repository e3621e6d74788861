# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into nic.nccl."""

DOCUMENTATION = r"""
name: nccl_view
short_description: NCCL's environment on a node
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: fabric, name
options:
  _input:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  fabric:
    description: C(drawbridge_fabric).
    type: dict
    required: true
  name:
    description: Inventory name of the node.
    type: str
    required: true
"""

EXAMPLES = r"""
fabric_nic_nccl: "{{ drawbridge_nodes | drawbridge.drawbridge.nccl_view(drawbridge_fabric, inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: Names and values of NCCL's variables.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.nic.nccl import nccl_env
from ..module_utils.drawbridge.site.load import part


def nccl_view(nodes: Any, fabric: Any, name: str) -> dict[str, Any]:
    """Derive it; see nic.nccl.nccl_env."""
    try:
        return nccl_env(part("nodes", nodes), part("fabric", fabric).roce, name)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"nccl_view": nccl_view}
