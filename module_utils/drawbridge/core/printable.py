# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a host said, as a terminal may show it: users of a host choose names of processes and files, and banners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def printable(text: str) -> str:
    """The text with ? for control characters and for bytes that are no UTF-8. Line breaks and tabs stay."""
    if text.isprintable():  # nearly all are, and a site has many
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else "?" for char in text)


def all_printable(value: Any) -> Any:
    """All texts of a module's result made printable, also names of keys; other values as they are."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {all_printable(key): all_printable(item) for key, item in value.items()}
    return [all_printable(item) for item in value] if isinstance(value, (list, tuple)) else value
