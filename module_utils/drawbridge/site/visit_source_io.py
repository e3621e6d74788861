# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The sources that a visit consists of."""

from __future__ import annotations

import pkgutil

PACKAGE = __name__.rsplit(".", 2)[0]


def source(path: str) -> str | None:
    """The source at a path below module_utils/drawbridge; None if it is not here."""
    try:
        found = pkgutil.get_data(PACKAGE, path)
    except OSError:
        return None
    return found.decode() if found is not None else None
