# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""An emulated file system that an admin host has mounted, for tests of the modules that manage filesets in it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.emulated import writes
from tests.unit.library.forked import Forked
from tests.unit.library.gpfs_site import ADAPTERS, Site

ADMIN = "nsd1"


class Filesystem(Site):
    """fs1, mounted on nsd1."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        super().__init__(root, monkeypatch, capfd)
        monkeypatch.setattr(f"{ADAPTERS}.policies.io.FOLDER", self.folder)
        self.tool("mmmount", "fs1")
        self.tool("mmchfs", "fs1", "--filesetdf")
        self.forget()

    def tool(self, *argv: str) -> str:
        """What a command of the emulator prints on nsd1, where an administrator runs it."""
        host = self.hosts[ADMIN]
        with self._patch.context() as patch:
            for name, value in host.environment.items():
                patch.setenv(name, value)
            process = Forked([str(host.bin / argv[0]), *argv[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            out, err = process.communicate()
        assert process.returncode == 0, err
        return out

    def forget(self) -> None:
        """Empty the journal of nsd1's commands."""
        (self.device(ADMIN).directory / "journal.jsonl").unlink(missing_ok=True)

    def commands(self) -> list[list[str]]:
        """Changing commands of nsd1: verb, device and name."""
        return [call[:3] for call in writes(self.device(ADMIN))]

    def verbs(self) -> list[str]:
        """Verbs of all commands of nsd1, those that read included."""
        return [call["tool"] for call in self.device(ADMIN).calls()]
