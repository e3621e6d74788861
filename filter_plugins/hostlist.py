# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into hostlist.expand."""

DOCUMENTATION = r"""
name: hostlist
short_description: Names of a Slurm hostlist
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Expands as Slurm does. Ansible's own patterns read C(gpu[05-06]) as some members of a group C(gpu).
options:
  _input:
    description: A hostlist such as C(gpu[05-06],gpu10).
    type: str
    required: true
"""

EXAMPLES = r"""
hosts: "{{ nodes | drawbridge.drawbridge.hostlist }}"
"""

RETURN = r"""
_value:
  description: The names, in Slurm's order.
  type: list
  elements: str
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.hostlist import HostlistError, expand


def hostlist(expression: Any) -> list[str]:
    """Expand it; see hostlist.expand."""
    try:
        return expand(str(expression))
    except HostlistError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"hostlist": hostlist}
