# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The lab's command."""

from __future__ import annotations

import argparse
import sys

from lab.errors import LabError
from lab.hosts import lock, site
from lab.hosts.nspawn import Nspawn
from lab.hosts.paths import Paths
from lab.hosts.room import Room
from lab.image import build


def say(line: str) -> None:
    """Progress goes where a person sees it at once, and never into what `lab env` prints."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Run one verb; one sentence and exit code 1 when it can't be done."""
    parser = argparse.ArgumentParser(prog="lab")
    parser.add_argument("verb")
    parser.add_argument("hosts", nargs="*")
    options = parser.parse_args()
    try:
        paths = Paths.of()
        chosen = site.load(paths.lab_id)
        room = Room(chosen, paths, Nspawn(chosen, paths), say)
        with lock.only_one(paths.lock, options.verb, say):
            if options.verb == "down":
                room.down()
                return 0
            image = build.ensure(paths.cache, say)
            if options.verb == "up":
                return 0 if room.up(chosen.select(options.hosts), image) else 1
            if options.verb == "reset":
                return 0 if room.reset(chosen.select(options.hosts), image) else 1
        return 2
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
