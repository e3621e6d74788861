# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Refusals of GPFS that the emulator does not have, and owners without names. The rest is in test_mm_fileset.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.io import (
    Filesets,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.model import (
    Consents,
    Fileset,
    FilesetsState,
    comment_of,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.plan import plan
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.owned import CLOSED, Owned

HEADER = (
    "mmlsfileset::HEADER:version:reserved:reserved:filesystemName:filesetName:id:rootInode:status:path:parentId:"
    "created:inodes:dataInKB:comment:\n"
)
ROW = "mmlsfileset::0:1:::fs1:{}:1:3:{}:{}:0:x:-:-:{}:\n"
BUSY = "mmunlinkfileset: Fileset a cannot be unlinked: Device or resource busy.\n"
FREE = Consents("fs1", delete=frozenset("ab"))


class Cluster:
    """Filesets a and b, linked below a folder. `refusal` is what mmunlinkfileset says of a."""

    def __init__(self, folder: Path, refusal: str = "", root: bool = True) -> None:
        self.folder, self.refusal, self.root = folder, refusal, root
        self.linked, self.asked = {"a", "b"}, list[str]()
        for name in self.linked:
            (folder / name).mkdir()

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        verb, name = argv[0].rpartition("/")[2], argv[2]
        if verb != "mmlsfileset":
            self.asked.append(f"{verb} {name}")
            if verb == "mmunlinkfileset" and name == "a" and self.refusal:
                raise DeviceError("failed", rc=1, stdout="", stderr=self.refusal)
            self.linked.discard(name)
            return Completed(0, "", "")
        rows = [
            ROW.format(it, *(("Linked", self.folder / it) if it in self.linked else ("Unlinked", "--")), comment_of(it))
            for it in "ab"
        ]
        root = ROW.format("root", "Linked", self.folder, "root fileset") if self.root else ""
        return Completed(0, HEADER + root + "".join(rows), "")

    def filesets(self, want: dict[str, Fileset | None]) -> Filesets:
        mm = Mm(self, "/mm")
        table = f"90 22 0:52 / {self.folder} rw shared:7 - gpfs fs1 rw\n"
        return Filesets(mm, mm, FilesetsState(want), ("fs1", str(self.folder)), lambda: table)


def test_a_fileset_that_other_hosts_use_stays_and_the_others_go(tmp_path: Path) -> None:
    cluster = Cluster(tmp_path, BUSY)
    want: dict[str, Fileset | None] = {"a": None, "b": Fileset(comment_of("b"))}
    device = cluster.filesets(want)
    device.apply(plan(device.read(), FilesetsState(want), FREE))
    assert cluster.asked == ["mmunlinkfileset a", "mmunlinkfileset b"] and cluster.linked == {"a"}
    assert list(device.in_use) == ["a"] and f"lsof +f -- {tmp_path}/a" in device.in_use["a"]


@pytest.mark.parametrize("refusal", ["Local update lock is busy.\n", "No space left on device.\n"])
def test_other_refusals_are_errors(tmp_path: Path, refusal: str) -> None:
    want: dict[str, Fileset | None] = {"a": None}
    device = Cluster(tmp_path, refusal).filesets(want)
    with pytest.raises(DeviceError, match="mmunlinkfileset failed"):
        device.apply(plan(device.read(), FilesetsState(want), FREE))
    assert device.in_use == {}


def test_an_answer_without_the_root_fileset_is_none(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="does not list the root fileset of fs1"):
        Cluster(tmp_path, root=False).filesets({"a": None}).read()


@pytest.mark.parametrize("kind", ["missing", "link"])
def test_a_junction_that_this_host_does_not_see_is_refused(tmp_path: Path, kind: str) -> None:
    device = Cluster(tmp_path).filesets({"a": Fileset(comment_of("a"), f"{tmp_path}/a", top=CLOSED)})
    (tmp_path / "a").rmdir()
    if kind == "link":
        (tmp_path / "a").symlink_to("/etc")
    with pytest.raises(DeviceError, match=r"GPFS has a fileset at .*/a, but this host"):
        device.read()


def test_a_directory_that_became_a_link_is_given_to_no_user(tmp_path: Path) -> None:
    want: dict[str, Fileset | None] = {"a": Fileset(comment_of("a"), f"{tmp_path}/a", top=Owned("1", "2", "0770"))}
    device = Cluster(tmp_path).filesets(want)
    steps = plan(device.read(), FilesetsState(want), FREE)
    (tmp_path / "a").rmdir()
    (tmp_path / "target").mkdir(0o700)
    (tmp_path / "a").symlink_to(tmp_path / "target")
    with pytest.raises(DeviceError, match="can't be given to 1:2 0770"):
        device.apply(steps)
    assert (tmp_path / "target").stat().st_uid == 0


def test_owners_are_compared_by_number_and_shown_by_name(tmp_path: Path) -> None:
    want: dict[str, Fileset | None] = {
        "a": Fileset(comment_of("a"), f"{tmp_path}/a", top=Owned("daemon", "54321", "0700")),
        "b": Fileset(comment_of("b"), f"{tmp_path}/b", top=Owned("no-such-user", "daemon", "0700")),
    }
    device = Cluster(tmp_path).filesets(want)
    os.chown(tmp_path / "a", 1, 54321)
    os.chown(tmp_path / "b", 54321, 0)
    found = device.read().filesets
    assert [str(it.top) for it in found.values() if it] == ["daemon:54321 0755", "54321:root 0755"]
