# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A directory on a shared file system that belongs to some people."""

from __future__ import annotations

from dataclasses import dataclass

from ...core.options import FILE, PATH, Shape, option

OWNER = Shape(
    r"(?![0-9]+$)[A-Za-z0-9_][A-Za-z0-9_.@-]{0,254}",
    "a user or a group",
    "letters, digits, dots, dashes, underscores and @, as getent prints it, such as vision",
)
MODE = Shape(r"[0-3]?[0-7]{3}", "the mode of a directory", "three or four octal digits in quotes, such as '2770'")


@dataclass(frozen=True)
class Directory:
    """A directory on a shared file system."""

    path: str = option("its absolute path", pattern=FILE)
    mount: str = option("mount point of the file system that it is on", pattern=PATH)
    owner: str = option("its owner", "root", pattern=OWNER)
    group: str = option("its group", "root", pattern=OWNER)
    mode: str = option("its mode", "2770", pattern=MODE)
    closed: bool = option("true: root alone reaches it; its content stays as it is", False)
