# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Begin budgets anew, and close accounts at their end, on Slurm's controller: drawbridge-budget tend.

It runs as root, for a timer. Each look reads the use of QOS with a period. At the first look in a new month, quarter or
year it resets that use (RawUsage=0); one that fails is made by the next look. After an account's last day it sets
GrpSubmitJobs=0. It never opens an account.
"""

import argparse
import os
import sys
import time
from pathlib import Path

# of the unit, for root alone; beside the modules host_files would see bytecode as a change
CACHE = os.environ.get("RUNTIME_DIRECTORY")
sys.pycache_prefix, sys.dont_write_bytecode = CACHE, not CACHE
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-budget"))

# these imports need the line above
from drawbridge.core.command import Command  # noqa: E402
from drawbridge.core.printable import printable  # noqa: E402
from drawbridge.slurm.resets import tend_io  # noqa: E402
from drawbridge.slurm.resets.settings import Settings  # noqa: E402
from drawbridge.slurm.resets.store_io import FOLDER, Store  # noqa: E402

PLACE, STORE = Path("/etc/drawbridge/budget.json"), FOLDER
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 60.0
DONE, FAILED, UNABLE = 0, 1, 2


def say(line: str) -> None:
    """A line for the log."""
    print(printable(line), file=sys.stderr, flush=True)


def main() -> int:
    """Read the configuration, and look once."""
    made = argparse.ArgumentParser(prog="drawbridge-budget", description="Begin budgets anew, and close accounts.")
    made.add_argument("verb", choices=["tend"], help="look once: the timer's verb")
    made.parse_args()
    os.environ.update(PATH=PATH, LC_ALL="C", SLURM_TIME_FORMAT="%s")
    try:
        settings = Settings.parse(PLACE.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        say(f"{PLACE} has no settings of drawbridge-budget, run slurm.yml: {err}")
        return UNABLE
    try:
        well = tend_io.tend(tend_io.Place(settings, Store(STORE), Command(LIMIT_S), say, time.time))
    except OSError as err:
        say(f"{STORE} can't be used: {err}")
        return UNABLE
    return DONE if well else FAILED


if __name__ == "__main__":
    sys.exit(main())
