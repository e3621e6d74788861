# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""From the filesets of a file system to the wanted ones. Filesets of others are never touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ....core.converge import Step
from ...owned import CLOSED, Owned
from .model import Consents, Fileset, FilesetsState, is_own
from .refusals import CONSENT, FOREIGN, with_sentences

FOLDER, CREATE, COMMENT, INODES = "folder", "create", "comment", "inodes"
LINK, TOP, CLOSE, UNLINK, DELETE = "link", "top", "close", "unlink", "delete"
NONE = ""
ALL, FILESETS, OWNERS = "all", "filesets", "owners"
"""Parts of the steps. Limits come between the last two, so that no one writes before they hold."""
FRESH = Owned()
"""The directory of a fileset that GPFS has just made (IBM, mmcrfileset)."""
DELETING = "delet"
"""Part of the status of a fileset whose deletion was cut off. Deleting it again ends it (IBM, Filesets - usage errors).
The page says "being deleted state", and no public listing has one."""

FilesetStep = Step[FilesetsState]


@dataclass(frozen=True)
class Change:
    """One command, or one change of a directory. A folder has its path as name."""

    verb: str
    name: str
    fileset: Fileset = field(default_factory=Fileset)


def plan(have: FilesetsState, want: FilesetsState, consents: Consents, part: str = ALL) -> list[FilesetStep]:
    """Folders first, then one fileset after the other, so that a run that is cut off leaves few of them half made.

    `part` leaves some of them to another run: what gives directories to their owners, or all but that.
    """
    steps = _all(have, want, consents)
    return steps if part == ALL else [step for step in steps if (step.payload.verb == TOP) == (part == OWNERS)]


def _all(have: FilesetsState, want: FilesetsState, consents: Consents) -> list[FilesetStep]:
    steps: list[FilesetStep] = []
    for name, wanted in want.filesets.items():
        steps += _fileset(name, have, wanted, consents)
    if any(step.payload.verb == LINK for step in steps):
        steps = [*map(_parent, sorted(want.parents - have.parents)), *steps]
    if any(step.payload.verb == CREATE for step in steps):
        reason = f"make filesets in {consents.device}"
        steps += [_no_step(consents.device, reason, refused=fault) for fault in have.faults]
    return with_sentences(steps, have, consents)


def _fileset(name: str, state: FilesetsState, wanted: Fileset | None, consents: Consents) -> Iterator[FilesetStep]:
    have = state.filesets.get(name)
    if have is None:
        if wanted and wanted.junction:
            bare = replace(wanted, junction="", top=None, unknown="")
            yield Step(f"create fileset {name}", partial(_made, name, bare), Change(CREATE, name, wanted))
            yield from _placed(name, bare, wanted, state, consents, FRESH)
    elif not (own := is_own(name, have.comment)) and name not in consents.adopt:
        yield _no_step(name, f"manage fileset {name}", refused=FOREIGN)
    elif have.status:
        yield from _odd(name, have, wanted, consents)
    elif wanted is None or not wanted.junction:
        yield from _unlinked(name, have, wanted)
    else:
        if have.comment != wanted.comment:
            verb = "change the comment of fileset" if own else "take over fileset"
            reason = f"{verb} {name}, which is {have.comment!r}"
            yield _step(reason, Change(COMMENT, name, wanted), comment=wanted.comment)
        yield from _inodes(name, have, wanted)
        yield from _placed(name, have, wanted, state, consents, CLOSED)


def _placed(
    name: str, have: Fileset, wanted: Fileset, state: FilesetsState, consents: Consents, top: Owned
) -> Iterator[FilesetStep]:
    """Link it, and give its directory to its owner. Until then, `top` is its directory's."""
    reason, device = f"link fileset {name} at {wanted.junction}", consents.device
    if not have.junction:
        step = _step(reason, Change(LINK, name, replace(wanted, top=top)), junction=wanted.junction, top=top)
        yield replace(step, refused=state.hurdles.get(name, ""))
        have = replace(have, top=top)
    elif have.junction != wanted.junction:
        lines = f"`mmunlinkfileset {device} {name}` and `mmlinkfileset {device} {name} -J {wanted.junction}`"
        why = f"fileset {name} is linked at {have.junction}, and users may know that path; to move it, run {lines}"
        yield _no_step(name, reason, refused=why)
        return
    if have.top != wanted.top:
        about = f"give {wanted.junction} to {wanted.top}"
        was = "" if have.top in (None, FRESH, CLOSED) else f", instead of {have.top}"
        step = _step(f"{about}{was}", Change(TOP, name, wanted), top=wanted.top)
        yield replace(step, about=about, pending=wanted.unknown)


def _inodes(name: str, have: Fileset, wanted: Fileset) -> Iterator[FilesetStep]:
    """GPFS can raise both numbers. It can't lower them below the inodes that it has allocated."""
    about, waits = f"raise the inodes of fileset {name}", ""
    if have.inodes < wanted.inodes or have.allocated < wanted.allocated:
        if have.dependent:
            waits = "it shares the inodes of another fileset, since it was not made with --inode-space new"
        else:
            new = {key: max(getattr(have, key), getattr(wanted, key)) for key in ("inodes", "allocated")}
            figures = (
                f"{have.inodes:,} with {have.allocated:,} allocated to {new['inodes']:,} with {new['allocated']:,}"
            )
            step = _step(f"{about} from {figures}", Change(INODES, name, replace(wanted, **new)), **new)
            yield replace(step, about=about)
    elif wanted.inodes and have.inodes > wanted.inodes:
        waits = f"GPFS has {have.inodes:,} for it, and Drawbridge never lowers that number"
    if waits:
        waits += "; leave inode_limit out, or set that number" if not have.dependent else "; leave inode_limit out"
        yield _no_step(name, f"limit fileset {name} to {wanted.inodes:,} inodes", pending=waits)


def _unlinked(name: str, have: Fileset, wanted: Fileset | None) -> Iterator[FilesetStep]:
    """Close it, unlink it, and delete it if it is not wanted any more. One that is in use waits, closed."""
    if have.junction:
        if have.top != CLOSED:
            about = f"close {have.junction}"
            closed = Change(CLOSE, name, replace(have, top=CLOSED))
            yield replace(_step(f"{about}: {CLOSED} instead of {have.top}", closed, top=CLOSED), about=about)
        reason = f"unlink fileset {name} from {have.junction}"
        yield replace(_step(reason, Change(UNLINK, name, have), junction="", top=None), pending=have.users)
    if wanted is None:
        yield replace(_deleted(name, have), pending=have.users if have.junction else "")


def _odd(name: str, have: Fileset, wanted: Fileset | None, consents: Consents) -> Iterator[FilesetStep]:
    """One whose deletion was cut off, and any status that Drawbridge does not know."""
    cut_off = DELETING in have.status.lower()
    if cut_off and wanted is None:
        yield _deleted(name, have)
        return
    why = f"mmlsfileset prints status {have.status} for fileset {name}"
    if cut_off:
        why += f", so its deletion was cut off; complete it with `mmdelfileset {consents.device} {name} -f`"
    else:
        why += f", which is neither Linked nor Unlinked; look at `mmlsfileset {consents.device} {name} -L`"
    yield _no_step(name, f"manage fileset {name}", refused=why)


def _deleted(name: str, have: Fileset) -> FilesetStep:
    reason = f"delete fileset {name} with its data"
    return Step(reason, partial(_made, name, None), Change(DELETE, name, have), refused=CONSENT)


def _parent(path: str) -> FilesetStep:
    def becomes(state: FilesetsState) -> FilesetsState:
        return replace(state, parents=state.parents | {path})

    return Step(f"make directory {path}", becomes, Change(FOLDER, path))


def _step(reason: str, change: Change, **fields: Any) -> FilesetStep:
    return Step(reason, partial(_becomes, change.name, fields), change)


def _no_step(name: str, reason: str, pending: str = "", refused: str = "") -> FilesetStep:
    return Step(reason, lambda state: state, Change(NONE, name), pending=pending, refused=refused)


def _made(name: str, fileset: Fileset | None, state: FilesetsState) -> FilesetsState:
    return replace(state, filesets={**state.filesets, name: fileset})


def _becomes(name: str, fields: Mapping[str, Any], state: FilesetsState) -> FilesetsState:
    return _made(name, replace(state.filesets[name] or Fileset(), **fields), state)
