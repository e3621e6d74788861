# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The passport in its place on a node: judged there, and written there when a proof delivers it.

The node keeps the public key that it got first, from a Slurm job of root, and refuses passports of all others. The
signature does not stop root on the node, who can change this code, too.
"""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

from ..core.command import Command
from ..core.converge import DeviceError
from ..core.files import read_own, write_bytes
from . import depends_io
from .passport import LACKS, parse, stale
from .passport_io import is_signed

KEY, PASSPORT = "etc/drawbridge/proof.pub", "var/lib/drawbridge/passport"
"""The passport's file has its line, then the signature: both change at once."""
SHOWN = 3
"""Most reasons in a sentence: it becomes a drain reason."""


def deliver(text: str, signature: str, public_key: str, root: str = "/") -> None:
    """Write the passport, and the public key if there is none. Raises DeviceError; then nothing has changed.

    `root` is a prefix of all paths, for tests.
    """
    key, passport = Path(root) / KEY, Path(root) / PASSPORT
    if "\n" in public_key.strip():
        raise DeviceError("the public key has more than one line")
    if key.exists() and own(key).strip() != public_key.strip():
        raise DeviceError(f"the passport has another public key than {key}; if the controller is new, remove that file")
    if why := why_not(text, signature, public_key, root):
        raise DeviceError(why)
    try:
        for path, content in ((key, f"{public_key.strip()}\n"), (passport, text + signature)):
            write_bytes(path, content.encode(), 0o644, (os.geteuid(), os.getegid()))
    except OSError as err:
        raise DeviceError(f"the passport can't be written: {err}") from err


def lacks(root: str = "/") -> str:
    """Why the node has no valid passport; empty if it has one."""
    key, passport = Path(root) / KEY, Path(root) / PASSPORT
    if not (key.exists() and passport.exists()):
        return LACKS
    try:
        line, _end, signature = own(passport).partition("\n")
        return why_not(f"{line}\n", signature, own(key), root)
    except DeviceError as err:
        return str(err)


def why_not(text: str, signature: str, public_key: str, root: str = "/") -> str:
    """Why a passport does not hold for this node now; empty if it does. Raises DeviceError without the tool."""
    if not is_signed(text, signature, public_key):
        return "its passport is not signed by the controller"
    asked = depends_io.asked(root)
    now = depends_io.read(asked, Command(depends_io.LIMIT_S), root)
    try:
        why = stale(parse(text), asked.node, now, datetime.now(timezone.utc), asked.most_days or None)
    except ValueError as err:
        return f"its passport can't be read: {err}"
    more = f"; and {len(why) - SHOWN} more" if len(why) > SHOWN else ""
    return f"its passport is stale: {'; '.join(why[:SHOWN])}{more}" if why else ""


def own(path: Path) -> str:
    """The text of a file that only root may write. Raises DeviceError."""
    try:
        text, found = read_own(path)
    except OSError as err:
        raise DeviceError(f"{path} can't be read: {err.strerror}") from err
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o022:
        raise DeviceError(f"users other than root may write {path}; remove it and prove the node again")
    return text
