# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into hostlist.in_order."""

DOCUMENTATION = r"""
name: hostlist_sorted
short_description: Slurm's sorted hostlist expression for names
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Gives what C(scontrol show hostlistsorted) prints, numbers in prefixes by magnitude; doubled names stay doubled.
options:
  _input:
    description: Names of hosts, or an expression that stands for them.
    type: raw
    required: true
"""

EXAMPLES = r"""
nodes: "{{ ['r10n1', 'r2n2', 'r2n1'] | drawbridge.drawbridge.hostlist_sorted }}" # r2n[1-2],r10n1
"""

RETURN = r"""
_value:
  description: The expression.
  type: str
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core import hostlist


def hostlist_sorted(names: Any) -> str:
    """Sort and compress them; see hostlist.in_order."""
    try:
        return hostlist.in_order(hostlist.names(names))
    except (hostlist.HostlistError, TypeError) as err:
        raise AnsibleFilterError(f"{names!r} can't be read as names of hosts: {err}") from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"hostlist_sorted": hostlist_sorted}
