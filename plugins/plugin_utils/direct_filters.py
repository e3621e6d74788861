# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filters of simple templates, on plain data. What they can't do exactly as Ansible does raises Unknown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ansible.plugins.filter import core

from ..module_utils.drawbridge.site.load import of_variables
from ..module_utils.drawbridge.site.views import VIEWS

VIEW = "drawbridge.drawbridge."
MISSING: Any = object()
"""What a variable or a key has that does not exist."""


class Unknown(Exception):
    """Ansible must evaluate this template."""


def refuse(_raw: Any = None) -> Any:
    """Leave the template to Ansible."""
    raise Unknown


def plain(value: Any) -> Any:
    """A template's value as plain data, with its lazy parts evaluated."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def member(whole: Any, key: Any) -> Any:
    """A key of a mapping; MISSING if it has none. Jinja prefers a method of the same name."""
    if not isinstance(whole, dict) or not isinstance(key, str) or hasattr(whole, key):
        refuse()
    return whole.get(key, MISSING)


@functools.cache
def view(name: str) -> Callable[..., Any]:
    """The view of a filter's name. Raises Unknown."""
    found = VIEWS.get(name.removeprefix(VIEW).removesuffix("_view")) if name.startswith(VIEW) else None
    return of_variables(found) if found else refuse()


def pairs(value: Any) -> dict[str, Any]:
    """`dict(keys | zip(values))`."""
    right = isinstance(value, list) and all(len(pair) == 2 and isinstance(pair[0], str) for pair in value)
    return dict(value) if right else refuse()


def mapped(items: Any, name: Any = None, *given: Any, attribute: Any = None) -> list[Any]:
    """`map(attribute='key')`, or `map('filter', ...)` for some filters."""
    if not isinstance(items, list):
        refuse()
    if name is not None:
        each = EACH.get(name) if attribute is None else None
        return [each(item, *given) for item in items] if each else refuse()
    found = [member(item, attribute) for item in items]
    return refuse() if any(value is MISSING for value in found) else found


def texts(value: Any) -> list[str]:
    """The value, if it is a list of texts."""
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else refuse()


def joined(value: Any, by: Any = "") -> str:
    """`join('=')` of texts."""
    return by.join(texts(value)) if isinstance(by, str) else refuse()


def replaced(value: Any, pattern: str, new: str) -> str:
    """`regex_replace`."""
    return core.regex_replace(value, pattern, new) if isinstance(value, str) else refuse()


EACH: Mapping[str, Callable[..., Any]] = {
    "basename": lambda value: value.rpartition("/")[2] if isinstance(value, str) else refuse(),
    "join": joined,
    "regex_replace": replaced,
}
"""Filters that map applies."""
FILTERS: Mapping[str, Callable[..., Any]] = {
    "bool": lambda value: value if isinstance(value, bool) else refuse(),
    "join": joined,
    "length": len,
    "list": lambda value: list(value) if isinstance(value, list) else refuse(),
    "map": mapped,
    "sort": lambda value: sorted(texts(value), key=str.lower),
    "zip": lambda one, other: [list(pair) for pair in zip(one, other, strict=False)],
    "combine": core.combine,
    "dict2items": core.dict_to_list_of_dict_key_value_elements,
    "to_nice_json": core.to_nice_json,
}
