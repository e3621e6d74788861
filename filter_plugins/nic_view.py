# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into nic.view."""

DOCUMENTATION = r"""
name: nic_view
short_description: What a node's RDMA ports must be like
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
fabric_nic_qos: "{{ drawbridge_nodes | drawbridge.drawbridge.nic_view(drawbridge_fabric, inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: Arguments of M(drawbridge.drawbridge.mlnx_qos) for all ports of the node.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.nic.view import nic_qos
from ..module_utils.drawbridge.site.load import part


def nic_view(nodes: Any, fabric: Any, name: str) -> dict[str, Any]:
    """Derive it; see nic.view.nic_qos."""
    try:
        classes = part("fabric", fabric)
        return nic_qos(part("nodes", nodes), classes.roce, classes.cnp, name)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"nic_view": nic_view}
