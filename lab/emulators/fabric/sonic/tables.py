# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tables as `tabulate` prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def grid(head: Sequence[str], rows: Sequence[Sequence[str]], align: str = "<") -> str:
    """Return a table with tablefmt=simple."""
    wide = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]
    lines = [head, ["-" * width for width in wide], *rows]
    return "\n".join(
        "  ".join(f"{cell:{align}{width}}" for cell, width in zip(row, wide, strict=True)) for row in lines
    )
