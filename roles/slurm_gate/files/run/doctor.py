# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge-run doctor."""

from __future__ import annotations

from collections.abc import Sequence

from .run import Seams


def examine(argv: Sequence[str], seams: Seams) -> int:
    """Say why a job or its pods wait."""
    raise NotImplementedError
