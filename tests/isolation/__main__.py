# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make isolation`: boot the site of lab/sites/isolation.yml, build it, see what jobs are confined to.

Further words go to pytest. With --keep the lab stays, and the next call goes on with it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

import pytest

from lab.hosts.paths import REPOSITORY

LAB_ID = "54"
"""Where LAB_ID names none: below the ids of `make test`."""
LAB = (sys.executable, str(REPOSITORY / "lab/lab"))


def main(arguments: list[str]) -> int:
    """Run all of it; 0 if every test passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.isolation", description=__doc__)
    parser.add_argument("--keep", action="store_true", help="leave the lab up at the end")
    options, others = parser.parse_known_args(arguments)
    os.environ |= {"LAB_ID": os.environ.get("LAB_ID", LAB_ID), "LAB_SITE": "isolation"}
    began = time.monotonic()
    try:
        subprocess.run([*LAB, "up"], check=True)
        return pytest.main(["-m", "live", "--durations=0", *others, str(REPOSITORY / "tests/isolation")])
    finally:
        if not options.keep:
            subprocess.run([*LAB, "down"], check=True)
        print(f"{(time.monotonic() - began) / 60:.0f} minutes")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
