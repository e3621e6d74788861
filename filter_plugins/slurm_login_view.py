# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into views.slurm, for a login host."""

DOCUMENTATION = r"""
name: slurm_login_view
short_description: What a login host has on disk for sackd
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Derives it from the site's description; reads nothing else.
options:
  _input:
    description: C(drawbridge_slurm).
    type: dict
    required: true
"""

EXAMPLES = r"""
slurm_login_view: "{{ drawbridge_slurm | drawbridge.drawbridge.slurm_login_view }}"
"""

RETURN = r"""
_value:
  description:
    - C(packages), options of M(drawbridge.drawbridge.slurm_packages), and C(sackd), files as
      M(drawbridge.drawbridge.slurm_daemon) takes them.
  type: dict
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.site.load import part
from ..module_utils.drawbridge.slurm.view import login


def slurm_login_view(slurm: Any) -> dict[str, Any]:
    """Derive it; see slurm.view."""
    try:
        return login(part("slurm", slurm))
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"slurm_login_view": slurm_login_view}
