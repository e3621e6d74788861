# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The last guard of a report: what looks like a secret is replaced, whatever module printed it.

Modules mark their secrets, so that Ansible hides them in each result. This guard is for tools that print more than
they should, such as a command line in an error.
"""

from __future__ import annotations

import re

HIDDEN = "<hidden>"
_WHOLE = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z)",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",  # a JSON web token
    r"\b[a-z0-9]{6}\.(?=[a-z]*[0-9])[a-z0-9]{16}\b",  # a bootstrap token
    r"\$(?:1|5|6|y|2[aby])\$[./\w$=,-]{20,}",  # a password's hash
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bgh[pousr]_\w{20,}",
)
_AFTER = (
    r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)",  # user and password of a URL
    r"(?i:(?<=bearer )|(?<=basic ))[\w.~+/=-]{8,}",
)
_NAMED = re.compile(
    r"(?i)([\w-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|private[_-]?key|credential)s?[\"']?\s*[=:]\s*)"
    r"(?!(?:true|false|null|none|yes|no)\b)(?:\"[^\"]+\"|'[^']+'|[^\s,;\"']+)"
)
"""A value after a name such as password=. What follows a colon in prose is hidden too: unknown means closed. Words that
are no secret stay, because a refusal prints the line to add."""
_PATTERN = re.compile("|".join(f"(?:{pattern})" for pattern in (*_WHOLE, *_AFTER)), re.DOTALL)


def redacted(text: str) -> str:
    """The text without what looks like a secret."""
    return _NAMED.sub(rf"\1{HIDDEN}", _PATTERN.sub(HIDDEN, text))
