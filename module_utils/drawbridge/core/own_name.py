# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Sentences of many hosts that differ in the host's own name alone become one."""

from __future__ import annotations

import re
from collections.abc import Collection

HOST = "HOST"
"""Stands for the own name of each of several hosts."""
_MARK = "\0"
"""No sentence has it, while one may have the word HOST."""


def marked(text: str, host: str) -> str:
    """The text with a mark in place of the host's own name."""
    return re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", _MARK, text) if host and host in text else text


def named(text: str, hosts: Collection[str]) -> str:
    """A marked text with the name of the only host, or with the word for the name of each."""
    return text.replace(_MARK, next(iter(hosts)) if len(hosts) == 1 else HOST)
