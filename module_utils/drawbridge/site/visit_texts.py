# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Long texts in the options of layers: a visit sends each of them once.

Programs of different layers have files in common. The program for a node's boot consists of the visit's own code, which
the node has already.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Optional

SENT, OWN = "drawbridge-text:", "drawbridge-source:"
"""What replaces a text: its digest, or the path of one of the visit's own sources."""
LONG = 300
"""Characters from which a text is taken out; a digest is a fifth of that."""
Source = Callable[[str], Optional[str]]
"""A path below module_utils/drawbridge → the source there; None if there is none."""


def taken_out(value: Any, source: Source, texts: dict[str, str], path: str = "") -> Any:
    """The value with a short word for each long text. `texts` gets those that the node doesn't have, by their words."""
    if isinstance(value, Mapping):
        return {key: taken_out(each, source, texts, str(key)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [taken_out(each, source, texts) for each in value]
    if not isinstance(value, str) or len(value) < LONG:
        return value
    if path.endswith(".py") and source(path) == value:
        return OWN + path
    word = SENT + hashlib.sha256(value.encode()).hexdigest()
    texts[word] = str(value)
    return word


def put_back(value: Any, source: Source, texts: Mapping[str, str]) -> Any:
    """The value with its long texts. Raises KeyError for a source that the visit does not carry."""
    if isinstance(value, Mapping):
        return {key: put_back(each, source, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [put_back(each, source, texts) for each in value]
    if not isinstance(value, str):
        return value
    if value.startswith(OWN):
        text = source(value[len(OWN) :])
        if text is None:
            raise KeyError(f"{value[len(OWN) :]} is not part of the visit")
        return text
    return texts.get(value, value)
