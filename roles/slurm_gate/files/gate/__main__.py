# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate's verbs: open, end (controller); deliver_token, close, boot (node); reconcile (timer of both)."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from .clock import Clock
from .command import Commands
from .config import Config
from .host import Host
from .log import Log
from .notes import Notes
from .slurm import Slurm
from .verbs import run
from .world import World


def main(argv: Sequence[str]) -> int:
    """Run one verb on this host. Slurm acts on the exit code."""
    config, commands = Config.read(), Commands()
    host = Host(commands, config.runtime, config.gpu_proof)
    return run(argv[0], World(config, os.environ, Clock(), Slurm(commands), host, Notes(), Log()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
