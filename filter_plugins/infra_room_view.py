# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into site.capacity_view."""

DOCUMENTATION = r"""
name: infra_room_view
short_description: Which nodes are never gated, which are, and whose pods are jobs
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: kube
options:
  _input:
    description: C(drawbridge_slurm).
    type: dict
    required: true
  kube:
    description: C(drawbridge_kube).
    type: dict
    required: true
"""

EXAMPLES = r"""
gpu_operator_room: "{{ drawbridge_slurm | drawbridge.drawbridge.infra_room_view(drawbridge_kube) }}"
"""

RETURN = r"""
_value:
  description: C(infra) and C(gated), names of nodes; C(job_namespaces).
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.capacity_view import room
from ..module_utils.drawbridge.site.load import part


def infra_room_view(slurm: Any, kube: Any) -> dict[str, list[str]]:
    """Derive it; see site.capacity_view."""
    try:
        return room(part("slurm", slurm), part("kube", kube))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"infra_room_view": infra_room_view}
