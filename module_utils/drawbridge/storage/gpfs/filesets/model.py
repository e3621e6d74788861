# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Filesets of one file system: the wanted ones, those that exist, and the consents of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ...owned import Owned

MARK = "drawbridge project"
"""Comments of Drawbridge's filesets begin so, and the fileset's name follows."""


def comment_of(name: str, more: str = "") -> str:
    """The comment of a fileset that Drawbridge made."""
    return f"{MARK} {name}: {more}" if more else f"{MARK} {name}"


def is_own(name: str, comment: str) -> bool:
    """Whether the comment says that Drawbridge made the fileset, or took it over."""
    return comment == comment_of(name) or comment.startswith(f"{comment_of(name)}: ")


@dataclass(frozen=True)
class Fileset:
    """One fileset. As a wanted one it has no junction if it must be unlinked; a number of 0 is not compared."""

    comment: str = ""
    junction: str = ""
    inodes: int = 0
    """Most inodes that it may have."""
    allocated: int = 0
    top: Owned | None = None
    """None where it can't be seen, because the fileset is not linked."""
    dependent: bool = field(default=False, compare=False)
    """It shares the inodes of another fileset."""
    status: str = field(default="", compare=False)
    """mmlsfileset's word if it is neither Linked nor Unlinked."""
    used: int = field(default=0, compare=False)
    """Inodes in use, if mmlsfileset knows."""
    users: str = field(default="", compare=False)
    """Who uses it, so that it can't be unlinked now."""
    unknown: str = field(default="", compare=False)
    """Why the wanted owner or group has no number on this host."""


@dataclass(frozen=True)
class FilesetsState:
    """The wanted filesets by name; None for one that does not exist."""

    filesets: Mapping[str, Fileset | None]
    parents: frozenset[str] = frozenset()
    """Folders of junctions that exist."""
    faults: tuple[str, ...] = field(default=(), compare=False)
    """Why no fileset may be made in this file system."""
    hurdles: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    """Why filesets can't be linked at their places, by name."""

    def lines(self) -> list[str]:
        """Folders, then one line a fileset."""
        found = [f"{path}/" for path in sorted(self.parents)]
        return [*found, *(_line(name, it) for name, it in sorted(self.filesets.items()) if it)]


@dataclass(frozen=True)
class Consents:
    """Filesets that may be taken over or deleted, and how messages name the options."""

    device: str
    adopt: frozenset[str] = frozenset()
    delete: frozenset[str] = frozenset()
    adopt_option: str = "adopt"
    delete_option: str = "delete"


def _line(name: str, it: Fileset) -> str:
    inodes = f"{it.inodes}:{it.allocated} inodes" if it.inodes or it.allocated else ""
    parts = (name, it.junction or it.status or "unlinked", str(it.top or ""), inodes, repr(it.comment))
    return " ".join(filter(None, parts))
