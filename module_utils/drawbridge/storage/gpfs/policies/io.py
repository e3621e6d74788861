# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The policy of one file system, read and replaced on an admin host."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....core import files
from ....core.converge import DeviceError, Step
from ....core.file_entry import Entry
from ..filesystem_io import attributes
from ..io import Mm
from ..members.io import FOLDER
from .plan import PolicyState
from .text import UnknownPolicy, installed


class Policy:
    """The policy of a file system."""

    name = "GPFS policy"

    def __init__(self, mm: Mm, device: str, folder: Path | None = None) -> None:
        self._mm, self._device, self._folder = mm, device, folder or FOLDER
        self._read = ""

    def read(self) -> PolicyState:
        """The whole policy, and the names of the pools."""
        self._read = self._text()
        return PolicyState(self._read, attributes(self._mm, self._device).pools())

    def apply(self, steps: Sequence[Step[PolicyState]]) -> None:
        """Replace it, unless someone else has done so meanwhile."""
        for step in steps:
            if self._text() != self._read:
                raise DeviceError(f"the policy of {self._device} has changed since it was read; run again")
            self._with_file(step.payload)

    def test(self, policy: str) -> None:
        """Let GPFS read a policy without installing it. Raises DeviceError with its reason."""
        self._with_file(policy, "-I", "test")

    def missing(self, names: Sequence[str]) -> list[str]:
        """Those of the filesets that do not exist."""
        rows = self._mm.read("mmlsfileset", self._device).get("", [])
        exist = {row["filesetName"] for row in rows}
        return [name for name in names if name not in exist]

    def _text(self) -> str:
        found = self._mm.show("mmlspolicy", self._device, "-L")
        try:
            return installed(found)
        except UnknownPolicy as err:
            raise DeviceError(f"mmlspolicy {self._device} -L: {err}", stdout=found) from err

    def _with_file(self, policy: str, *options: str) -> None:
        path = self._folder / "drawbridge.policy"
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write(str(path), Entry(policy, "0600"))
        try:
            self._mm.change("mmchpolicy", self._device, str(path), *options)
        finally:
            path.unlink(missing_ok=True)
