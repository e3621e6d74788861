# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Door from templates into hostlist.expand."""

DOCUMENTATION = r"""
name: hostlist_expand
short_description: Names of a Slurm hostlist expression
version_added: 0.1.0
author: Drawbridge contributors
description:
  - Gives the names that C(scontrol show hostnames) prints, in its order; the last bracket runs fastest.
  - Refuses what Slurm refuses, also where Slurm drops a part without a word.
options:
  _input:
    description: An expression such as V(gpu[01-04],login).
    type: str
    required: true
"""

EXAMPLES = r"""
nodes: "{{ 'gpu[01-04]' | drawbridge.drawbridge.hostlist_expand }}" # gpu01, gpu02, gpu03, gpu04
"""

RETURN = r"""
_value:
  description: The names.
  type: list
"""

from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core import hostlist


def hostlist_expand(expression: str) -> list[str]:
    """Expand it; see hostlist.expand."""
    try:
        return hostlist.expand(str(expression))
    except hostlist.HostlistError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """Tells Ansible the filter's name."""

    def filters(self) -> dict[str, Any]:
        """Return name and function."""
        return {"hostlist_expand": hostlist_expand}
