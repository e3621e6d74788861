# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`python -m lab.tools`: make sure that the lab's tools are built, and print where each one is.

With the name of a program that only some tests need, that one alone.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from lab.errors import LabError
from lab.tools import build


def main() -> int:
    """Build the missing programs; 1 with one sentence when that cannot be."""
    cache = Path(os.environ.get("LAB_CACHE", "/var/cache/drawbridge-lab"))
    try:
        say = functools.partial(print, file=sys.stderr, flush=True)
        named = [binary for binary in build.ON_DEMAND if binary.name in sys.argv[1:]]
        for name, path in build.ensure(cache, say, named or build.BINARIES).items():
            print(name, path)
    except LabError as error:
        print(f"tools: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
