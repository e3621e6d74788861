# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into hostlist.compress."""

DOCUMENTATION = r"""
name: hostlist_compress
short_description: Slurm's hostlist expression for names
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Gives what C(scontrol show hostlist) prints for the names in this order; nothing is sorted and nothing dropped.
options:
  _input:
    description: Names of hosts, or an expression that stands for them.
    type: raw
    required: true
"""

EXAMPLES = r"""
nodes: "{{ groups.nodes | drawbridge.drawbridge.hostlist_compress }}" # gpu[01-04]
"""

RETURN = r"""
_value:
  description: The expression.
  type: str
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core import hostlist


def hostlist_compress(names: Any) -> str:
    """Compress them; see hostlist.compress."""
    try:
        return hostlist.compress(hostlist.names(names))
    except (hostlist.HostlistError, TypeError) as err:
        raise AnsibleFilterError(f"{names!r} can't be read as names of hosts: {err}") from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"hostlist_compress": hostlist_compress}
