# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A daemon of a Slurm controller, whose whole configuration may be the site's still."""

from __future__ import annotations

from pathlib import Path, PurePath

from . import files
from .environment import is_foreign
from .io import TakenOver, text_of
from .model import Change


class Configured(TakenOver):
    """It compares all files of Slurm's own."""

    def compares(self, path: str) -> bool:
        """Whether a file at this path may hold the site's own lines."""
        return files.is_compared(path)

    def changes(self, path: str, old: str, new: str) -> list[Change]:
        """What becomes of each line of the site's file `old`, and of those that it includes."""
        return files.changes(path, old, new, lambda name: text_of(_beside(path, name)), self._site.scripts)

    def hides(self, path: str, content: str) -> bool:
        """Whether the file may hold passwords."""
        return PurePath(path).name == "slurmdbd.conf" or is_foreign(content)


def _beside(path: str, name: str) -> str:
    """The file after Include in the file at `path`."""
    return name if name.startswith("/") else str(Path(path).parent / name)
