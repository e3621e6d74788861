# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The collection on the oldest ansible-core that it supports: `make test PARTS="old-ansible"`.

The tests of the built and installed collection run once more, in an environment with that ansible-core. It runs those
in which releases have differed, or all of them with --all, as `make nightly` does.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.collection.installed import ROOT
from tests.old_python.__main__ import UV, here

PYTHON = (3, 12)
"""The newest Python that ansible-core 2.16 runs on, and the oldest that Drawbridge does."""
LOCKS = (ROOT / "requirements.lock", Path(__file__).parent / "requirements.lock")
"""Those of all packages, and of the few that differ here."""
PLACE = ROOT / ".cache/ansible-core2.16"

SHARP = ("differential", "installed", "node_visit", "refusals")
"""Files of tests/collection in which releases of ansible-core have differed."""
SELDOM = "test_a_layer_ends_as_its_task_or_is_refused"
"""A play for each keyword, loop and mistake, twice; values are what releases read differently."""


def environment() -> Path:
    """Make the environment as the locks say; return its Python. Raises CalledProcessError."""
    python, made = PLACE / "bin/python", PLACE / ".synced"
    # uv finds or fetches a Python where the machine has none
    wanted = here(PYTHON) or ".".join(map(str, PYTHON))
    if not python.exists():
        subprocess.run([str(UV), "venv", "--quiet", "--python", str(wanted), str(PLACE)], check=True)
    pins = b"".join(lock.read_bytes() for lock in LOCKS)
    if not made.exists() or made.read_bytes() != pins:
        argv = [str(UV), "pip", "install", "--quiet", "--require-hashes", "--no-deps", "--python", str(python)]
        subprocess.run([*argv, "--requirements", str(LOCKS[0]), "--override", str(LOCKS[1])], check=True)
        made.write_bytes(pins)
    return python


def main(words: list[str]) -> int:
    """Run tests of the collection there."""
    try:
        python = environment()
    except (OSError, subprocess.CalledProcessError) as err:
        print(f"ansible-core 2.16 needs Python {'.'.join(map(str, PYTHON))} here: {err}", file=sys.stderr)
        return 1
    folder = Path("tests/collection")
    # the execution environment has the newest release
    every = [f"--ignore={folder}/test_environment.py", str(folder)]
    sharp = ["-k", f"not {SELDOM}", *(f"{folder}/test_{name}.py" for name in SHARP)]
    chosen = every if "--all" in words else sharp
    # its cache is apart, because what pytest noted of the newest release says nothing of this one
    argv = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    return subprocess.run(argv, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
