# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into views.slurm, for the controller."""

DOCUMENTATION = r"""
name: slurm_controller_view
short_description: What Slurm's controller has on disk and in its books
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
positional: nodes, cgroups
options:
  _input:
    description: C(drawbridge_slurm).
    type: dict
    required: true
  nodes:
    description: C(drawbridge_nodes).
    type: dict
    required: true
  cgroups:
    description: Whether nodes confine jobs with cgroups.
    type: bool
    required: true
"""

EXAMPLES = r"""
slurm_controller_view: >-
  {{ drawbridge_slurm | drawbridge.drawbridge.slurm_controller_view(drawbridge_nodes, true) }}
"""

RETURN = r"""
_value:
  description:
    - C(packages), options of M(drawbridge.drawbridge.slurm_packages); C(mariadb), path of our file for the database
      server; C(slurmctld) and C(slurmdbd), files as M(drawbridge.drawbridge.slurm_config) and
      M(drawbridge.drawbridge.slurm_daemon) take them; C(books), options of M(drawbridge.drawbridge.slurm_accounting);
      C(release), the release that the files are for.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.load import part
from ..module_utils.drawbridge.slurm.view import controller


def slurm_controller_view(slurm: Any, nodes: Any, cgroups: bool) -> dict[str, Any]:
    """Derive it; see slurm.view."""
    try:
        return controller(part("slurm", slurm), part("nodes", nodes), cgroups)
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"slurm_controller_view": slurm_controller_view}
