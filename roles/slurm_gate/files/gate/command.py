# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The only place where the gate starts other programs."""

from __future__ import annotations

import os
from typing import NamedTuple

TIMEOUT_S = 20.0
NO_ANSWER = -1


class Result(NamedTuple):
    """A program's result; code NO_ANSWER if it could not start, or did not end in time."""

    code: int
    out: str = ""
    err: str = ""


class Commands:
    """Programs of this host."""

    def run(self, *argv: str, timeout_s: float = TIMEOUT_S) -> Result:
        """Run a program to its end, without input, with English messages."""
        import subprocess  # most runs start no program and save this import

        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                env=environment,
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as err:
            return Result(NO_ANSWER, "", str(err))
        return Result(done.returncode, done.stdout, done.stderr.strip())
