# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Owner, group and mode of a directory on a shared file system."""

from __future__ import annotations

from dataclasses import dataclass

ROOT = "root"


@dataclass(frozen=True)
class Owned:
    """Names of this host, or numbers that it has no names for; the mode as four octal digits."""

    owner: str = ROOT
    group: str = ROOT
    mode: str = "0700"

    def __str__(self) -> str:
        return f"{self.owner}:{self.group} {self.mode}"


CLOSED = Owned(mode="0500")
"""No user but root reaches anything below it."""
PARENT = Owned(mode="0755")
"""A folder above directories of projects."""
OTHER = Owned("something else", "something else", "0000")
"""A path that is a link or a file."""


def unsafe_parent(path: str, found: Owned) -> str:
    """Why a folder must not have directories of projects below it; empty: root alone can replace them."""
    if found == OTHER:
        return f"{path} is no directory; move it away"
    if found.owner == ROOT and not int(found.mode, 8) & 0o022:
        return ""
    repair = f"run `chown root {path}` and `chmod go-w {path}`"
    return f"{path} is {found}, so others could replace directories of projects; {repair}"
