# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The calling user and directory."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

from .pod import User


def current_user() -> User:
    """The calling process's user. A uid without a login name, as in a container, is its own name."""
    uid = os.getuid()
    try:
        entry = pwd.getpwuid(uid)
        name, home = entry.pw_name, entry.pw_dir
    except KeyError:
        name, home = str(uid), "/"
    umask = os.umask(0)
    os.umask(umask)
    return User(uid, os.getgid(), name, home, _here(), umask, os.environ)


def _here() -> str:
    """The current directory by the user's own path: a link may lead to a shared file system."""
    said = os.environ.get("PWD", "")
    try:
        if said and Path(said).samefile("."):
            return str(Path(said).resolve())
    except OSError:
        pass
    return str(Path.cwd())
