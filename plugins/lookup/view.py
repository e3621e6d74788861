# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Look up a view of the intent."""

from __future__ import annotations

DOCUMENTATION = r"""
name: view
short_description: Derive from the intent what one layer needs
version_added: 0.1.0
author: Drawbridge contributors (@drawbridge)
description:
  - Evaluates the variables C(drawbridge_*) that the view reads, and returns what the view derives from them.
  - The filter P(drawbridge.drawbridge.view#filter) lists the views with what they take and return.
  - Checks the shape of the intent. The playbook C(check.yml) checks its rules.
options:
  _terms:
    description: Name of one view.
    required: true
    type: list
    elements: str
notes:
  - Further arguments are those of the view. Without O(ignore:name) a view of a host is that of C(inventory_hostname).
  - A domain, such as C(nfs), replaces C(drawbridge_nfs).
"""

EXAMPLES = r"""
# the settings of this node's NICs
fabric_nic_view: "{{ lookup('drawbridge.drawbridge.view', 'nic') }}"
# a site without NFS exports
nfs_client_view: "{{ lookup('drawbridge.drawbridge.view', 'nfs_client', nfs={'mounts': []}) }}"
"""

RETURN = r"""
_raw:
  description: What the view derives, as one element.
  type: list
  elements: raw
"""

from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ..module_utils.drawbridge.site.views import viewed
from ..plugin_utils.play_tasks import plain

SCALARS = (str, bool, int, float, type(None))
MARKS = ("{{", "{%", "{#")


class LookupModule(LookupBase):
    """Evaluates what a view reads among the variables of the task."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> Any:
        """The value of the view. Raises AnsibleError."""
        given = {key: plain(value) for key, value in kwargs.items()}
        try:
            return [viewed(terms[0] if len(terms) == 1 else terms, variables, given, self._evaluated)]
        except ValueError as err:
            raise AnsibleError(str(err)) from err

    def _evaluated(self, raw: Any) -> Any:
        """The value of a variable of the intent."""
        templar: Any = self._templar
        found = plain(raw)
        return found if is_plain(found) else plain(templar.template(raw))


def is_plain(raw: Any) -> bool:
    """Whether a variable holds no template, so that it is its own value."""
    if isinstance(raw, dict):
        return all(map(is_plain, raw.values()))
    if isinstance(raw, list):
        return all(map(is_plain, raw))
    return isinstance(raw, SCALARS) and not (isinstance(raw, str) and any(mark in raw for mark in MARKS))
