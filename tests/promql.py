# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Names of metrics in PromQL, without a parser of the whole language."""

from __future__ import annotations

import re

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_BY_NAME = re.compile(r'__name__\s*=~?\s*"((?:[^"\\]|\\.)*)"')
_SELECTOR = re.compile(r"\{[^{}]*\}|\[[^\[\]]*\]")
_LABELS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^()]*\)")
_NAME = re.compile(r"(?<![\w:.$])[a-zA-Z_:][\w:]*(?![\w:])(?!\s*\()")
_WORDS = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "inf", "nan"}


def names(expression: str) -> set[str]:
    """Metrics that an expression reads; of a matcher for names its regular expression."""
    found = set(_BY_NAME.findall(expression))
    text = _LABELS.sub(" ", _SELECTOR.sub(" ", _STRING.sub('""', expression)))
    return found | {name for name in _NAME.findall(text) if name.lower() not in _WORDS}


def covers(pattern: str, name: str) -> bool:
    """Whether a matcher for names has one of the names that another pattern stands for."""
    return re.fullmatch(pattern, name.replace("[0-7]", "3")) is not None
