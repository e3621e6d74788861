# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The views of site/views.py as filters: `drawbridge_PART | drawbridge.drawbridge.NAME_view(further arguments)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.core.faults import IntentError
from ..module_utils.drawbridge.core.hostlist import HostlistError
from ..module_utils.drawbridge.site.load import of_variables
from ..module_utils.drawbridge.site.views import VIEWS, View


def as_filter(view: View) -> View:
    """The view as a filter, which raises faults of the intent as an error of Ansible."""
    derive = of_variables(view)

    @functools.wraps(view)
    def filtered(*given: Any, **named: Any) -> Any:
        try:
            return derive(*given, **named)
        except (IntentError, HostlistError) as err:
            raise AnsibleFilterError(str(err)) from err

    return filtered


FILTERS = {f"{name}_view": as_filter(view) for name, view in VIEWS.items()}
"""Made once: Ansible asks a FilterModule for all of its filters each time that it looks one up."""


class FilterModule:
    """All views by name. `make docs` writes a page of documentation for each beside this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return dict(FILTERS)
