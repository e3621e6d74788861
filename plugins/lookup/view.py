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
  - A view has the documentation of the filter with its name, such as P(drawbridge.drawbridge.nic_view#filter).
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

import inspect
from typing import Any

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.core.hostlist import HostlistError
from ..module_utils.drawbridge.site.load import DOMAINS, of_variables
from ..module_utils.drawbridge.site.views import VIEWS
from ..plugin_utils.play_tasks import plain

SCALARS = (str, bool, int, float, type(None))
MARKS = ("{{", "{%", "{#")


class LookupModule(LookupBase):
    """Finds the view's arguments among the variables of the task."""

    def run(self, terms: list[Any], variables: Any = None, **kwargs: Any) -> Any:
        """The value of the view. Raises AnsibleError."""
        name = str(terms[0]) if len(terms) == 1 else ""
        if name not in VIEWS:
            raise AnsibleError(f"{terms} is not the name of one view; use one of {', '.join(sorted(VIEWS))}")
        view, given = VIEWS[name], {key: plain(value) for key, value in kwargs.items()}
        wanted = inspect.signature(view).parameters
        if unknown := sorted(given.keys() - wanted.keys()):
            raise AnsibleError(f"view {name} has no argument {unknown[0]}; it has {', '.join(wanted)}")
        found = {domain: self._domain(domain, variables) for domain in DOMAINS.keys() & wanted.keys() - given.keys()}
        if "defined" in wanted:
            found["defined"] = tuple(domain for domain in DOMAINS if f"drawbridge_{domain}" in variables)
        if "name" in wanted:
            found["name"] = variables["inventory_hostname"]
        try:
            return [of_variables(view)(**{**found, **given})]
        except (IntentError, HostlistError, TypeError) as err:
            raise AnsibleError(f"view {name}: {err}") from err

    def _domain(self, domain: str, variables: Any) -> Any:
        """The evaluated value of one variable of the intent; None if the site lacks it."""
        templar: Any = self._templar
        raw = variables.get(f"drawbridge_{domain}")
        found = plain(raw)
        return found if is_plain(found) else plain(templar.template(raw))


def is_plain(raw: Any) -> bool:
    """Whether a variable holds no template, so that it is its own value."""
    if isinstance(raw, dict):
        return all(map(is_plain, raw.values()))
    if isinstance(raw, list):
        return all(map(is_plain, raw))
    return isinstance(raw, SCALARS) and not (isinstance(raw, str) and any(mark in raw for mark in MARKS))
