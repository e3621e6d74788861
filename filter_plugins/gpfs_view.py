# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into storage.gpfs.view."""

DOCUMENTATION = r"""
name: gpfs_view
short_description: File systems and clients of the Storage Scale cluster
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: nodes
options:
  _input:
    description: C(drawbridge_gpfs).
    type: dict
    required: true
  nodes:
    description: C(drawbridge_nodes), where members are made; nodes need no list of each other.
    type: dict
"""

EXAMPLES = r"""
gpfs_client_mounts: "{{ drawbridge_gpfs | drawbridge.drawbridge.gpfs_view }}"
gpfs_client_site: "{{ drawbridge_gpfs | drawbridge.drawbridge.gpfs_view(drawbridge_nodes) }}"
"""

RETURN = r"""
_value:
  description: C(cluster) and C(filesystems), as M(drawbridge.drawbridge.mm_mount) takes them, and with O(nodes)
    C(nodes), as M(drawbridge.drawbridge.mm_node) takes them.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.load import part
from ..module_utils.drawbridge.storage.gpfs.view import gpfs_clients, gpfs_mounts


def gpfs_view(gpfs: Any, nodes: Any = None) -> dict[str, Any]:
    """Derive it; see storage.gpfs.view."""
    try:
        site = part("gpfs", gpfs)
        return gpfs_mounts(site) if nodes is None else gpfs_clients(site, part("nodes", nodes))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"gpfs_view": gpfs_view}
