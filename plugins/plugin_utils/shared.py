# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Values of variables that hosts share.

Ansible starts a process for each host and task. All of them inherit these values, which are evaluated before. Only
values that Direct finds are kept: these depend on nothing but variables that they name, files and the environment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .direct import is_scalar
from .direct_filters import MISSING

SEARCHED = "ansible_search_path"
PLACES = frozenset({SEARCHED, "ansible_role_name", "role_name", "role_path"})
"""Texts and lists that Drawbridge makes anew for each task."""


@dataclass(frozen=True)
class Shared:
    """A value, with the variables that it was made of; a word that was no variable is MISSING."""

    value: Any
    made_of: Mapping[str, Any]

    def fits(self, variables: Mapping[str, Any]) -> bool:
        """Whether these variables would give the same value. Nothing is compared that grows with the site."""
        return all(_same(name, raw, variables.get(name, MISSING)) for name, raw in self.made_of.items())


SHARED: dict[tuple[str, str], Shared] = {}
"""By the role's path and the variable's name."""
ARGUMENTS: dict[tuple[str, int], tuple[Any, Shared]] = {}
"""Arguments of tasks with their templates, by the role's path and the template's identity."""


def shared(name: str, variables: Mapping[str, Any]) -> Shared | None:
    """The shared value of a variable, if it is this host's as well."""
    found = SHARED.get((str(variables.get("role_path")), name))
    return found if found and found.fits(variables) else None


def shared_argument(raw: Any, variables: Mapping[str, Any]) -> Shared | None:
    """The shared value of a task's argument, if it is this host's as well."""
    template, found = ARGUMENTS.get((str(variables.get("role_path")), id(raw)), (None, None))
    return found if found and template is raw and found.fits(variables) else None


def _same(name: str, one: Any, other: Any) -> bool:
    if one is other:
        return True
    return type(one) is type(other) and (name in PLACES or is_scalar(one)) and bool(one == other)
