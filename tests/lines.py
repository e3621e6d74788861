# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Raw lines of tests, lab and molecule, of all that git tracks: `python -m tests.lines`."""

from __future__ import annotations

import subprocess

from tests.parts import ROOT

FOLDERS = ("tests", "lab", "molecule")


def lines(folder: str) -> int:
    """Line ends in the files of a folder. A link has none."""
    argv = ["git", "ls-files", "-z", folder]
    names = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    files = [ROOT / name for name in names if name and not (ROOT / name).is_symlink()]
    return sum(path.read_bytes().count(b"\n") for path in files)


if __name__ == "__main__":
    counts = {folder: lines(folder) for folder in FOLDERS}
    print(*(f"{folder}: {count}" for folder, count in counts.items()), f"all: {sum(counts.values())}", sep="\n")
