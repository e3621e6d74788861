# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A site with three projects, and answers of real daemons (tests/transcripts/slurm/usage_*.txt)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from roles.drawbridge_status.files.budget.usage import Minutes, Usage
from roles.drawbridge_status.files.gate.command import NO_ANSWER, Commands, Result
from roles.drawbridge_status.files.project.model import Account, Directory, Project, Seen, Space, Waiting

TRANSCRIPTS = Path(__file__).parents[4] / "transcripts/slurm"
RELEASES = ("24.11", "26.05")
TODAY, NOW = date(2026, 11, 29), datetime(2026, 11, 29, 23, 30)
GIB = 1 << 30
HEADER = {"version": 1, "cluster": "lab", "data": {"imagenet": "/gpfs/fs1/data/imagenet"}, "images": None}
VISION: dict[str, Any] = {
    "name": "vision",
    "ends": "2027-03-31",
    "partitions": ["ai-train", "hpc"],
    "budget": {"gpu_hours": 100, "period": "month"},
    "claims": [{"name": "files"}],
    "data": ["imagenet"],
    "namespace": "vision",
    "qos": ["project-vision"],
    "like": "normal",
    "total": {"gpus": 64},
    "directory": {
        **{"path": "/gpfs/fs1/projects/vision", "mount": "/gpfs/fs1", "owner": "root", "group": "vision"},
        **{"mode": "2770", "quota_gib": 1024, "inodes": 1000000, "fileset": True},
    },
}
BIO: dict[str, Any] = {"name": "bio", "state": "closed", "partitions": ["hpc"]}
OLD: dict[str, Any] = {"name": "old", "state": "archived", "ends": "2026-01-01"}
ROWS = (BIO, OLD, VISION)
TIB = Space(1 << 40, 512 * GIB, 1000000, 250000, "root", "vision", "2770")


def site_file(folder: Path, *rows: dict[str, Any]) -> Path:
    """The site's file."""
    file = folder / "projects.json"
    lines = (json.dumps(row, separators=(",", ":")) for row in (HEADER, *(rows or ROWS)))
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def project(**change: Any) -> Project:
    """The project vision, with other words."""
    return Project.of({**VISION, **change})


def seen(space: Space | None = TIB, used: int = 60, running: int = 0, **change: Any) -> Seen:
    """All that is known of it, with minutes of its budget of 6000."""
    own = project(**change)
    usage = Usage("project-vision", 0.0, {"gres/gpu": Minutes(6000, used, running)}) if own.budget else None
    jobs = [Waiting("6", "ada", "PENDING", "QOSGrpGRESMinutes"), Waiting("7", "ben", "RUNNING", "None")]
    return Seen(own, Account("", ("ada", "ben")), True, usage, space, jobs)


def directory(path: Path, mount: str = "") -> Directory:
    """A directory of the test's own."""
    return Directory(str(path), mount or str(path.parent))


def sections(release: str) -> dict[str, str]:
    """The transcript by the headings of its parts."""
    text = (TRANSCRIPTS / f"usage_{release}.txt").read_text()
    parts = re.split(r"^--- (.+)\n", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2]))


class Recorded(Commands):
    """Answers a person got. `silent` has the programs that do not answer."""

    def __init__(self, person: str = "cleo", release: str = "24.11", silent: Sequence[str] = ()) -> None:
        self._parts, self._person, self._silent = sections(release), person, silent
        self.calls: list[tuple[str, ...]] = []

    def run(self, *argv: str, timeout_s: float = 0) -> Result:
        self.calls.append(argv)
        if argv[0] in self._silent:
            return Result(NO_ANSWER, "", f"Command '{argv[0]}' timed out after {timeout_s} seconds")
        return Result(0, self._parts[f"{self._person} {self._part(argv)}"])

    def _part(self, argv: Sequence[str]) -> str:
        if argv[0] == "sreport":
            [start] = [word.partition("=")[2] for word in argv if word.startswith("Start=")]
            return f"sreport {start}"
        if argv[0] == "sacctmgr":
            words = {"configuration": "private", "user": "admin", "user=": "accounts"}
            named = next((part for word, part in words.items() if word in argv), "")
            return named or ("own" if any(word.startswith("user=") for word in argv) else "assoc")
        return {"sacct": "sacct", "squeue": "squeue", "scontrol": "use"}[argv[0]]
