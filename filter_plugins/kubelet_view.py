# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into kube.kubelet.view."""

DOCUMENTATION = r"""
name: kubelet_view
short_description: What a node's kubelet must be configured with
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: kube, name
options:
  _input:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  kube:
    description: C(drawbridge_kube).
    type: dict
    required: true
  name:
    description: Inventory name of the node.
    type: str
    required: true
"""

EXAMPLES = r"""
kubelet_numa_view: "{{ drawbridge_nodes | drawbridge.drawbridge.kubelet_view(drawbridge_kube, inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description:
    - C(config), a KubeletConfiguration without apiVersion and kind; C(machine), its CPUs and NUMA nodes; and C(join),
      who starts the kubelet.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.kube.kubelet.view import kubelet
from ..module_utils.drawbridge.site.load import part


def kubelet_view(nodes: Any, kube: Any, name: str) -> dict[str, Any]:
    """Derive it; see kube.kubelet.view."""
    try:
        return kubelet(part("nodes", nodes), part("kube", kube), name)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"kubelet_view": kubelet_view}
