# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""munge on this host: its key file and its daemon."""

from __future__ import annotations

import pwd
import stat
from collections.abc import Sequence
from pathlib import Path

from ...core import files
from ...core.converge import DeviceError, Step
from ...core.units import Unit
from .plan import MungeState, digest_of

UNIT = "munge.service"
KEY = Path("/etc/munge/munge.key")
KEY_BYTES = 1024  # munge's own limit


def present_key(path: Path = KEY) -> bytes:
    """The host's key; empty if there is none. Raises DeviceError."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as err:
        raise DeviceError(f"{path} can't be read: {err.strerror}") from err


class Munge:
    """The key file and munged."""

    def __init__(self, unit: Unit, key: bytes, path: Path = KEY) -> None:
        self.unit, self._key, self._path = unit, key, path
        self.name = "munge"

    def read(self) -> MungeState:
        """Read the key's digest, and whether munged started after the key changed."""
        unit = self.unit.read()
        key = present_key(self._path)
        digest = digest_of(key) if key and self._is_private() else ""
        current = unit.active and files.changed_s(str(self._path)) <= unit.started_s
        return MungeState(digest, unit.enabled, unit.active, current)

    def apply(self, steps: Sequence[Step[MungeState]]) -> None:
        """Write the key and control the daemon."""
        for step in steps:
            if step.payload == "key":
                owner = pwd.getpwnam("munge")
                files.write_bytes(self._path, self._key, 0o400, (owner.pw_uid, owner.pw_gid))
            else:
                self.unit.do(step.payload)

    def _is_private(self) -> bool:
        found = self._path.stat()
        return stat.S_IMODE(found.st_mode) & 0o077 == 0 and found.st_uid == pwd.getpwnam("munge").pw_uid
