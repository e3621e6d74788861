# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make gpu`: read this machine's GPUs as nodes do, and run jobs on them. Further words go to pytest.

With --look alone it says whether this machine can run the tests. The exit status is 1 if it can't.
"""

from __future__ import annotations

import sys

import pytest

from lab.hosts.paths import REPOSITORY
from tests.gpu.machine import refusal, seen


def main(arguments: list[str]) -> int:
    """Run the tests, or say why they can't run."""
    if why := refusal():
        print(f"make gpu checked nothing: {why}", file=sys.stderr)
        return 1
    if arguments == ["--look"]:
        print(*(f"GPU {it.index}: {it.name} {it.pci} /dev/nvidia{it.minor}" for it in seen()), sep="\n")
        return 0
    return pytest.main(["-m", "live", *arguments, str(REPOSITORY / "tests/gpu")])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
