# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge-run: from the command line to the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ..gate.api import Unreachable
from ..gate.clock import Clock
from ..gate.command import Commands
from ..gate.config import Refused
from .console import Console
from .doctor import examine
from .options import parse
from .person import myself
from .pods import NOTHING_RAN
from .run import run
from .seams import Seams


def main(argv: Sequence[str]) -> int:
    """Run it in the real world."""
    clock = Clock()
    console = Console(clock)
    seams = Seams(os.environ, clock, Commands(), console, myself())
    try:
        if argv and argv[0] == "doctor":
            return examine(argv[1:], seams)
        return run(parse(argv), seams)
    except (Refused, Unreachable) as err:
        console.say(str(err))
        return NOTHING_RAN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
