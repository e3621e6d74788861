# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into site.run_view."""

DOCUMENTATION = r"""
name: run_view
short_description: What drawbridge-run must know of the site
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: gpfs, kube, nodes, name
options:
  _input:
    description: C(drawbridge_slurm).
    type: dict
    required: true
  gpfs:
    description: C(drawbridge_gpfs).
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
drawbridge_run_site: >-
  {{ drawbridge_slurm
  | drawbridge.drawbridge.run_view(drawbridge_gpfs, drawbridge_kube, drawbridge_nodes, inventory_hostname) }}
"""

RETURN = r"""
_value:
  description: The file's content.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.load import part
from ..module_utils.drawbridge.site.run_view import run_site


def run_view(slurm: Any, gpfs: Any, kube: Any, nodes: Any, name: str) -> dict[str, Any]:
    """Derive it; see site.run_view."""
    try:
        return run_site(part("slurm", slurm), part("gpfs", gpfs), part("kube", kube), part("nodes", nodes), name)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"run_view": run_view}
