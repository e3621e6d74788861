# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The door from a role's defaults to fabric/view.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.fabric.view import switch_profile
from ..module_utils.drawbridge.site.load import part

DOCUMENTATION = r"""
name: switch_view
short_description: What one switch has to do for the lossless class
version_added: 0.1.0
description:
  - Picks the switch's entry in C(drawbridge_fabric.switches) and joins it with the class of C(drawbridge_fabric).
  - Ports are expanded, thresholds stay in bytes and times in milliseconds, as the intent writes them.
author: Drawbridge contributors
positional: name
options:
  _input:
    description: The intent C(drawbridge_fabric).
    type: dict
    required: true
  name:
    description: Inventory name of the switch.
    type: str
    required: true
"""

EXAMPLES = r"""
profile: "{{ drawbridge_fabric | drawbridge.drawbridge.switch_view(inventory_hostname) }}"
"""

RETURN = r"""
_value:
  description: The option O(drawbridge.drawbridge.switch_roce#module:profile) of the module that configures the switch.
  type: dict
"""


def switch_view(fabric: Any, name: str) -> dict[str, Any]:
    """Return the profile of the switch `name`; AnsibleFilterError names what is wrong with the intent."""
    try:
        return switch_profile(part("fabric", fabric), name).as_dict()
    except IntentError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """One filter a file, so that each has its documentation."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return {"switch_view": switch_view}
