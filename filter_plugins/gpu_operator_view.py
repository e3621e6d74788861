# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into kube.releases.gpu_operator_view."""

DOCUMENTATION = r"""
name: gpu_operator_view
short_description: The releases of GPU vendors' charts that a site needs
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
gpu_operator_releases: "{{ drawbridge_nodes | drawbridge.drawbridge.gpu_operator_view(drawbridge_kube) }}"
"""

RETURN = r"""
_value:
  description: A list of releases; each has vendor, name, namespace, labels, chart, version and values.
  type: list
  elements: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.kube.releases.gpu_operator_view import releases
from ..module_utils.drawbridge.site.load import part


def gpu_operator_view(nodes: Any, kube: Any) -> list[dict[str, Any]]:
    """Derive it; see kube.releases.gpu_operator_view."""
    try:
        return releases(part("nodes", nodes), part("kube", kube))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"gpu_operator_view": gpu_operator_view}
