# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into site.mirror_view."""

DOCUMENTATION = r"""
name: mirror_view
short_description: What a site without a way to the internet must have on its mirror
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: kube, slurm
options:
  _input:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  kube:
    description: C(drawbridge_kube).
    type: dict
    required: true
  slurm:
    description: C(drawbridge_slurm).
    type: dict
    required: true
"""

EXAMPLES = r"""
mirror: "{{ drawbridge_nodes | drawbridge.drawbridge.mirror_view(drawbridge_kube, drawbridge_slurm) }}"
"""

RETURN = r"""
_value:
  description: C(charts), C(images) with their digests, and C(packages).
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.load import part
from ..module_utils.drawbridge.site.mirror_view import mirror


def mirror_view(nodes: Any, kube: Any, slurm: Any) -> dict[str, Any]:
    """Derive it; see site.mirror_view."""
    try:
        return mirror(part("nodes", nodes), part("kube", kube), part("slurm", slurm))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"mirror_view": mirror_view}
