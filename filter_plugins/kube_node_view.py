# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into kube.member.view."""

DOCUMENTATION = r"""
name: kube_node_view
short_description: What a node needs to be a member of the Kubernetes cluster
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
options:
  _input:
    description: C(drawbridge_kube).
    type: dict
    required: true
"""

EXAMPLES = r"""
kube_node_view: "{{ drawbridge_kube | drawbridge.drawbridge.kube_node_view }}"
"""

RETURN = r"""
_value:
  description: Packages with their versions and sources, files of registries, the kubelet's main configuration.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.kube.member.view import kube_node
from ..module_utils.drawbridge.site.load import part


def kube_node_view(kube: Any) -> dict[str, Any]:
    """Derive it; see kube.member.view."""
    try:
        return kube_node(part("kube", kube))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"kube_node_view": kube_node_view}
