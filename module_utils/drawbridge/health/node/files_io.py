# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reads files as a program of its own: a file of a broken device can hang so that no signal ends the reader.

Its arguments are a prefix of all paths, then patterns, each of which may have `*`. It prints one JSON list for each
pattern when it begins, [PATTERN], and one for each file, [PATH, TEXT]. It imports nothing of Drawbridge's.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

MOST_BYTES = 1 << 20


def lines(root: str, patterns: Iterable[str]) -> Iterator[str]:
    """The lines to print. A file that can't be read is left out."""
    base = Path(root)
    for pattern in patterns:
        yield json.dumps([pattern])
        for path in sorted(base.glob(pattern.lstrip("/"))):
            try:
                with path.open(encoding="utf-8", errors="replace") as file:
                    yield json.dumps([f"/{path.relative_to(base)}", file.read(MOST_BYTES)])
            except OSError:
                continue


def main() -> int:
    """Print each line at once: the last one before a hang says where."""
    for line in lines(sys.argv[1], sys.argv[2:]):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
