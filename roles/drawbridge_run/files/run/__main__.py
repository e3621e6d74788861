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
from .context import Context, current_user
from .doctor import examine
from .options import parse
from .pods import NOTHING_RAN
from .run import run


def main(argv: Sequence[str]) -> int:
    """Run a command line on this host."""
    clock = Clock()
    console = Console(clock)
    context = Context(os.environ, clock, Commands(), console, current_user())
    try:
        if argv and argv[0] == "doctor":
            return examine(argv[1:], context)
        return run(parse(argv), context)
    except (Refused, Unreachable) as err:
        console.say(str(err))
        return NOTHING_RAN


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
