# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into site.gate_view."""

DOCUMENTATION = r"""
name: gate_view
short_description: The gate's configuration on a host
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: kube, nodes, name
options:
  _input:
    description: C(drawbridge_slurm).
    type: dict
    required: true
  kube:
    description: C(drawbridge_kube).
    type: dict
    required: true
  nodes:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  name:
    description: Inventory name of the host.
    type: str
    required: true
"""

EXAMPLES = r"""
slurm_gate_site: >-
  {{ drawbridge_slurm | drawbridge.drawbridge.gate_view(drawbridge_kube, drawbridge_nodes, inventory_hostname) }}
"""

RETURN = r"""
_value:
  description: The site's part of the gate's configuration file.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.gate_view import config
from ..module_utils.drawbridge.site.load import part


def gate_view(slurm: Any, kube: Any, nodes: Any, name: str) -> dict[str, Any]:
    """Derive it; see site.gate_view."""
    try:
        return config(part("slurm", slurm), part("kube", kube), part("nodes", nodes), name)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"gate_view": gate_view}
