# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into views.slurm, for a node."""

DOCUMENTATION = r"""
name: slurm_node_view
short_description: What a node has on disk for slurmd, and what it has to register with
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: slurm, name, mounts
options:
  _input:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  slurm:
    description: C(drawbridge_slurm).
    type: dict
    required: true
  name:
    description: The node, as in C(drawbridge_nodes.ranges).
    type: str
    required: true
  mounts:
    description: Mount points that a healthy node has.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
slurm_node_view: >-
  {{ drawbridge_nodes | drawbridge.drawbridge.slurm_node_view(drawbridge_slurm, 'gpu01', ['/gpfs/fs1']) }}
"""

RETURN = r"""
_value:
  description:
    - C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(slurmd), files as
      M(drawbridge.drawbridge.slurm_daemon) takes them; C(gres) and C(health) as
      M(drawbridge.drawbridge.slurm_node_ready) takes them; C(machine) as
      M(drawbridge.drawbridge.slurm_node_hardware) takes it.
  type: dict
"""

from collections.abc import Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.load import part
from ..module_utils.drawbridge.slurm.view import node


def slurm_node_view(nodes: Any, slurm: Any, name: str, mounts: Sequence[str] = ()) -> dict[str, Any]:
    """Derive it; see slurm.view."""
    try:
        return node(part("nodes", nodes), part("slurm", slurm), name, mounts)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"slurm_node_view": slurm_node_view}
