# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Lines of a proposed intent: questions, and text of hosts. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from . import hostlist
from .faults import MISSING
from .reader import Reader

QUESTION = "# QUESTION"
PLAIN = re.compile(r"[\w ./:,=@+()\[\]-]*")
"""Text that neither YAML nor Ansible evaluates."""

MOST = 65536
"""Names of a list that a host in other hands may have written."""


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


def members(nodes: str) -> list[str]:
    """The names of a host's hostlist. One that Slurm could not read, or that is too long, is a name itself."""
    try:
        return hostlist.expand(nodes) if hostlist.count(nodes) <= MOST else [nodes]
    except hostlist.HostlistError:
        return [nodes]


def propose(indent: int, kind: type, key: str, value: Any, look: str) -> str:
    """A line with the value that hosts have; a question without one, and for one that the intent would refuse.

    `kind` is the part of the intent that has the key.
    """
    if value in ("", None):
        return ask(indent, key, look)
    if why := refused(kind, key, value):
        return ask(indent, key, f"{look}; hosts have {json.dumps(value)}, but {why}")
    return f"{' ' * indent}{key}: {json.dumps(value)}"


def refused(kind: type, key: str, value: Any) -> str:
    """Why the intent refuses a value of one key; "" if it takes it."""
    reader = Reader()
    reader.record(kind, {key: value}, "")
    return next((fault.reason for fault in reader.faults if fault.value is not MISSING), "")
