# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A view of an intent that a template has at hand; view.yml beside this file documents it. Roles look views up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..module_utils.drawbridge.site.views import viewed


def view(variables: Any, name_of_view: str, **given: Any) -> Any:
    """What a view derives from variables. Raises AnsibleFilterError."""
    if not isinstance(variables, Mapping):
        raise AnsibleFilterError(f"view {name_of_view} is derived from variables, not from {type(variables).__name__}")
    try:
        return viewed(name_of_view, variables, given)
    except ValueError as err:
        raise AnsibleFilterError(str(err)) from err


class FilterModule:
    """The filter by its name."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"view": view}
