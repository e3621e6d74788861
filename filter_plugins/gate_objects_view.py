# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into site.gate_view."""

DOCUMENTATION = r"""
name: gate_objects_view
short_description: The gate's objects in Kubernetes
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: gpfs, kube, nodes
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
"""

EXAMPLES = r"""
slurm_gate_objects: >-
  {{ drawbridge_slurm
  | drawbridge.drawbridge.gate_objects_view(drawbridge_gpfs, drawbridge_kube, drawbridge_nodes) }}
"""

RETURN = r"""
_value:
  description:
    - C(namespaces) and C(accounts), both lists of manifests; the second need the first.
    - C(names), what the role's templates call things, C(nodes), all gated nodes, C(infra) and C(jobs), namespaces.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.gate_view import gated_nodes, job_namespaces, names, namespaces, objects
from ..module_utils.drawbridge.site.load import part


def gate_objects_view(slurm: Any, gpfs: Any, kube: Any, nodes: Any) -> dict[str, Any]:
    """Derive it; see site.gate_view."""
    try:
        scheduler, cluster = part("slurm", slurm), part("kube", kube)
        spaces = namespaces(scheduler, part("gpfs", gpfs), cluster)
        return {
            "namespaces": spaces,
            "accounts": objects(scheduler, cluster),
            "names": names(cluster, part("nodes", nodes)),
            "nodes": gated_nodes(scheduler),
            "infra": list(cluster.infra_namespaces),
            "jobs": job_namespaces(scheduler),
        }
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"gate_objects_view": gate_objects_view}
