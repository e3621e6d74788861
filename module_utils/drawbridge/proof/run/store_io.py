# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The proof's folder on Slurm's controller: state of the run, results, key, lock."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...core.converge import DeviceError
from ..passport_io import make_key
from ..result import PROVED, Result
from .progress import Progress
from .settings import Settings

FOLDER = Path("/var/lib/drawbridge/proof")
HOUR = timedelta(hours=1)
PAUSE_S = 0.5
KEPT = 50
"""Results that are kept."""


class Busy(DeviceError):
    """Another proof runs."""


class StoreFiles:
    """Files below one folder, which only root may enter."""

    def __init__(self, folder: Path = FOLDER, name: str = "run") -> None:
        """`name` is that of the state: a patrol has one of its own, beside a proof that was interrupted."""
        self.folder, self._name = folder, name
        for path in (folder, folder / "results"):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)

    @contextlib.contextmanager
    def locked(self, wait_s: float = 0.0) -> Iterator[None]:
        """Keep other proofs out. Raises Busy if one still runs then; the kernel ends the lock with its process."""
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        end = time.monotonic() + wait_s
        while not _taken(handle):
            if time.monotonic() >= end:
                os.close(handle)
                raise Busy("another proof runs on this controller; wait for its end")
            time.sleep(PAUSE_S)
        try:
            yield
        finally:
            os.close(handle)

    def save(self, progress: Progress) -> None:
        """Keep the state of the run."""
        self._write(self.folder / f"{self._name}.json", progress.to_json())

    def load(self, settings: Settings) -> Progress | None:
        """The state of the last run; None if there is none that this release can read."""
        try:
            return Progress.from_json(
                json.loads((self.folder / f"{self._name}.json").read_text(encoding="utf-8")), settings
            )
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            return None

    def keep(self, result: Result) -> Path:
        """Keep a result beside earlier ones, and remove the oldest."""
        path = self.folder / "results" / f"{result.started.replace(':', '')}.json"
        self._write(path, result.to_json())
        passed = {it.name: result.ended for it in result.nodes if it.verdict == PROVED}
        self._write(self.folder / "proved.json", {**self.proved, **passed})
        for old in sorted((self.folder / "results").glob("*.json"))[:-KEPT]:
            old.unlink()
        return path

    def earlier(self, than: str) -> Result | None:
        """The complete result before the one that began at this time."""
        for path in sorted((self.folder / "results").glob("*.json"), reverse=True):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                found = Result.from_json(json.loads(path.read_text(encoding="utf-8")))
                if found.complete and found.started < than:
                    return found
        return None

    @property
    def key(self) -> Path:
        """The private key that signs passports; it is made when it is first needed."""
        path = self.folder / "key"
        if not path.exists():
            make_key(str(path))
        return path

    def public_key(self) -> str:
        """Its public half."""
        return self.key.with_suffix(".pub").read_text(encoding="utf-8")

    @property
    def proved(self) -> dict[str, str]:
        """The end of each node's last proof that it passed, in ISO 8601."""
        try:
            return dict(json.loads((self.folder / "proved.json").read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def patrol_is_due(self, at: datetime) -> bool:
        """Whether an hour has passed since the last patrol; if so, one counts from now."""
        stamp = self.folder / "patrol"
        try:
            last = datetime.fromisoformat(stamp.read_text(encoding="utf-8").strip())
        except (OSError, ValueError):
            last = None
        if last is not None and timedelta(0) <= at - last < HOUR:
            return False
        stamp.write_text(at.isoformat(), encoding="utf-8")
        return True

    @staticmethod
    def _write(path: Path, data: Any) -> None:
        scratch = path.with_name(f".{path.name}")
        with scratch.open("w", encoding="utf-8") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)


def _taken(handle: int) -> bool:
    """Whether this process has the lock now."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
