# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into nodes.view."""

DOCUMENTATION = r"""
name: leaves_view
short_description: Leaf switches that nodes are cabled to
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives them from the site's description; reads nothing else.
positional: chosen
options:
  _input:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  chosen:
    description: Hostlist of the nodes.
    type: str
    required: true
"""

EXAMPLES = r"""
hosts: "{{ drawbridge_nodes | drawbridge.drawbridge.leaves_view('gpu[05-06]') }}"
"""

RETURN = r"""
_value:
  description: Names of the switches, each once.
  type: list
  elements: str
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.core.hostlist import HostlistError, expand
from ..module_utils.drawbridge.nodes.view import leaves
from ..module_utils.drawbridge.site.load import part


def leaves_view(nodes: Any, chosen: Any) -> list[str]:
    """Derive them; see nodes.view.leaves."""
    try:
        return leaves(part("nodes", nodes), expand(str(chosen)))
    except (IntentError, HostlistError) as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"leaves_view": leaves_view}
