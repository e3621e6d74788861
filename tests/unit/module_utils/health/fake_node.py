# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A node as a folder: files of its hardware, and programs that stand for its tools."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

from tests.unit.module_utils.proof.checks.healthy import NODE, OUTPUTS, TEXTS

ALONE = replace(NODE, gpus=0)
"""The node without GPUs."""
NEEDED = ("sh", "env", "cat", "sleep", "setsid", "touch")
"""Real programs of the scripts. The machine of the tests may have tools that a check looks for."""
BOOT = {"/proc/sys/kernel/random/boot_id": "one\n"}


class FakeNode:
    """A healthy node. Its programs are found in one folder alone."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin, self.run = root, root / "bin", root / "run/drawbridge/health"
        self.run.mkdir(parents=True)
        self.bin.mkdir()
        for name in NEEDED:
            found = shutil.which(name)
            assert found, name
            (self.bin / name).symlink_to(found)
        for path, text in {**TEXTS, **BOOT}.items():
            self.write(path, text)
        said: dict[str, list[str]] = {}
        for argv, text in OUTPUTS.items():
            self.write(f"/said/{'_'.join(argv)}", text)
            said.setdefault(argv[0], []).append(f"'{' '.join(argv[1:])}') exec cat {root}/said/{'_'.join(argv)};;")
        for name, cases in said.items():
            self.tool(name, f'case "$*" in {" ".join(cases)} esac; exit 9')

    @property
    def path(self) -> str:
        """PATH of its programs."""
        return str(self.bin)

    def write(self, path: str, text: str) -> Path:
        """Write a file of the node."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        return place

    def tool(self, name: str, body: str) -> None:
        """A program, as a shell script. It is complete at once: a look may run it at any time."""
        path = self.bin / name
        fresh = self.root / f"{name}.new"
        fresh.write_text(f"#!/bin/sh\n{body}\n")
        fresh.chmod(0o755)
        fresh.rename(path)

    def blocks(self, path: str) -> Path:
        """A file whose reader waits, in the place of another."""
        place = self.root / path.lstrip("/")
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        return place

    def settings(self, gpus: int = 0, **more: object) -> None:
        """Write what the node looks at."""
        wanted = {"node": replace(NODE, gpus=gpus).as_dict(), "nhc": "", **more}
        self.write("/etc/drawbridge/health.json", json.dumps(wanted))

    def slurm(self, state: str = "IDLE", reason: str = "", comment: str = "") -> None:
        """A sinfo and a scontrol that show this record, and note each call.

        They print it as real ones in tests/transcripts/slurm/record_24.11.txt.
        """
        lines = ["NodeName=gpu01 Arch=x86_64 CoresPerSocket=8", f"   State={state} ThreadsPerCore=1"]
        lines += [f"   Reason={reason} [root@2026-11-29T11:09:31]"] if reason else []
        lines += [f"   Comment={comment}"] if comment else []
        self.write("/record", "\n".join([*lines, "", ""]))
        columns = (state.lower(), f"{comment[:5]:5}", reason or "none", comment or "(null)")
        self.write("/listing", "\x1f".join(columns) + "\n")
        self.tool("scontrol", f'echo "$*" >> {self.root}/asked; {self.shows()}')
        self.tool("sinfo", f'echo "sinfo $5" >> {self.root}/asked; exec cat {self.root}/listing')

    def slurm_does(self, body: str) -> None:
        """What both do instead, as a shell script."""
        for name in ("sinfo", "scontrol"):
            self.tool(name, body)

    def without_partition(self) -> None:
        """The node is in no partition: sinfo lists nothing."""
        self.write("/listing", "")

    def shows(self) -> str:
        """What scontrol does for a record."""
        return f'case "$1" in show) exec cat {shlex.quote(str(self.root))}/record;; esac'

    def asked(self) -> list[str]:
        """Calls of sinfo, by the node that it lists, and of scontrol."""
        file = self.root / "asked"
        return file.read_text().splitlines() if file.exists() else []
