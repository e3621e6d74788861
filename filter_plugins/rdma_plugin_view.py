# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into kube.releases.rdma_plugin_view."""

DOCUMENTATION = r"""
name: rdma_plugin_view
short_description: The objects that give pods their node's RDMA devices
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: kube
options:
  _input:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  kube:
    description: C(drawbridge_kube).
    type: dict
    required: true
"""

EXAMPLES = r"""
rdma_plugin_objects: "{{ drawbridge_nodes | drawbridge.drawbridge.rdma_plugin_view(drawbridge_kube) }}"
"""

RETURN = r"""
_value:
  description: A list of manifests.
  type: list
  elements: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.kube.releases.rdma_plugin_view import manifests
from ..module_utils.drawbridge.site.load import part


def rdma_plugin_view(nodes: Any, kube: Any) -> list[dict[str, Any]]:
    """Derive it; see kube.releases.rdma_plugin_view."""
    try:
        return manifests(part("nodes", nodes), part("kube", kube))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"rdma_plugin_view": rdma_plugin_view}
