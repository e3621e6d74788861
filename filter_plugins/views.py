# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The doors from Jinja to site/views.py: `drawbridge_PART | drawbridge.drawbridge.NAME_view(further arguments)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.core.hostlist import HostlistError
from ..module_utils.drawbridge.site.load import of_variables
from ..module_utils.drawbridge.site.views import VIEWS, View


def door(view: View) -> View:
    """The view as a filter: what is wrong with the intent is an error of Ansible's."""
    derive = of_variables(view)

    @functools.wraps(view)
    def filtered(*given: Any, **named: Any) -> Any:
        try:
            return derive(*given, **named)
        except (IntentError, HostlistError) as err:
            raise AnsibleFilterError(str(err)) from err

    return filtered


class FilterModule:
    """All views under their names; `make docs` writes a file of documentation beside this one for each."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filters by name."""
        return {f"{name}_view": door(view) for name, view in VIEWS.items()}
