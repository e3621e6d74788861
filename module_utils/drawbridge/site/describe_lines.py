# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a proposed intent: questions, and text of hosts. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

QUESTION = "# QUESTION"
PLAIN = re.compile(r"[\w ./:,=@+()\[\]-]*")
"""Text that neither YAML nor Ansible evaluates."""


def plain(value: Any) -> Any:
    """The value without text that could be evaluated, also in what it holds."""
    if isinstance(value, str):
        return value if PLAIN.fullmatch(value) else ""
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items() if PLAIN.fullmatch(str(key))}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def ask(indent: int, key: str, look: str) -> str:
    """A line that asks for a key. The answer replaces it."""
    return f"{' ' * indent}{QUESTION}: {key}: {look}"
