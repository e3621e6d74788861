# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rows of public tests, re-typed: treydock/gpfs_exporter 3.5.0 and idiv-biodiversity/mmoxi 0.3.1.

The rows of mmoxi, of release 5.1, are five fields longer than their header.
"""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.model import (
    Fileset,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesets.text import (
    junctions,
    parse,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.text import parse as table

HEADER = (
    "mmlsfileset::HEADER:version:reserved:reserved:filesystemName:filesetName:id:rootInode:status:path:parentId:created:"
    "inodes:dataInKB:comment:filesetMode:afmTarget:afmState:afmMode:afmFileLookupRefreshInterval:"
    "afmFileOpenRefreshInterval:afmDirLookupRefreshInterval:afmDirOpenRefreshInterval:afmAsyncDelay:afmNeedsRecovery:"
    "afmExpirationTimeout:afmRPO:afmLastPSnapId:inodeSpace:isInodeSpaceOwner:maxInodes:allocInodes:inodeSpaceMask:"
    "afmShowHomeSnapshots:afmNumReadThreads:reserved:afmReadBufferSize:afmWriteBufferSize:afmReadSparseThreshold:"
    "afmParallelReadChunkSize:afmParallelReadThreshold:snapId:afmNumFlushThreads:afmPrefetchThreshold:"
    "afmEnableAutoEviction:permChangeFlag:afmParallelWriteThreshold:freeInodes:\n"
)
ROWS = f"""\
{HEADER}\
mmlsfileset::0:1:::project:root:0:3:Linked:%2Ffs%2Fproject:--:Wed May 18 10%3A41%3A35 2016:-:-:root fileset:off:\
-:-:-:-:-:-:-:-:-:-:-:-:0:1:300000000:102052224:2692530176:-:-:-:-:-:-:-:-:0:-:-:-:chmodAndSetacl:-:102045986:
mmlsfileset::0:1:::project:ibtest:1:524291:Linked:%2Ffs%2Fproject%2Fibtest:0:Tue Jun 28 07%3A08%3A46 2016:-:-::off:\
-:-:-:-:-:-:-:-:-:-:-:-:1:1:1000000:556032:2692530176:-:-:-:-:-:-:-:-:0:-:-:-:chmodAndSetacl:-:544397:
mmlsfileset::0:1:::project:PAS1136:2:17255366659:Unlinked:%2D%2D:--:Wed Nov 22 14%3A29%3A26 2017:-:-::off:\
-:-:-:-:-:-:-:-:-:-:-:-:164:1:1100000:1000000:2692530176:-:-:-:-:-:-:-:-:0:-:-:-:chmodAndSetacl:-:989069:-:-:
mmlsfileset::0:1:::project:data_foo:126:103079215107:Linked:%2Ffs%2Fproject%2Fdata%5Ffoo:0:Tue Dec  5 2023:-:-:\
end of project%3A 2026-11:off:-:-:-:-:-:-:-:-:-:-:-:-:126:0:0:0:0:-:-:-:-:-:-:-:-:0:-:-:-:chmodAndSetacl:-:0:
"""
FOUND = table(ROWS, "mmlsfileset")[""]
SHORT = "mmlsfileset::HEADER:version:reserved:reserved:filesetName:status:path:comment:maxInodes:allocInodes:\n"


def test_linked_unlinked_missing_and_dependent_filesets() -> None:
    names: dict[str, Fileset | None] = dict.fromkeys(("ibtest", "PAS1136", "data_foo", "absent"))
    found = parse(FOUND, names)
    assert [it and (it.junction, it.comment, it.status, it.dependent, it.used) for it in found.values()] == [
        ("/fs/project/ibtest", "", "", False, 11_635),
        ("", "", "", False, 10_931),
        ("/fs/project/data_foo", "end of project: 2026-11", "", True, 0),
        None,
    ]
    assert junctions(FOUND)["/fs/project/data_foo"] == "data_foo"
    assert "--" not in junctions(FOUND)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [(0, 0), (1_000_000, 1_000_000), (999_424, 999_424), (400_000, 400_000), (1_000_001, 1_000_000), (1, 1)],
)
def test_inodes_that_were_only_rounded_up_are_the_wanted_ones(wanted: int, found: int) -> None:
    seen = parse(FOUND, {"ibtest": Fileset(inodes=wanted)})["ibtest"]
    assert seen and seen.inodes == found


def test_a_number_far_above_the_wanted_one_is_shown() -> None:
    text = f"{SHORT}mmlsfileset::0:1:::a:Linked:%2Ffs%2Fa::300000000:102052224:\n"
    seen = parse(table(text, "mmlsfileset")[""], {"a": Fileset(inodes=1000, allocated=100)})["a"]
    assert seen and (seen.inodes, seen.allocated) == (300_000_000, 100)


@pytest.mark.parametrize("status", ["Deleting", "Inconsistent"])
def test_a_status_that_is_neither_is_kept(status: str) -> None:
    text = f"{SHORT}mmlsfileset::0:1:::a:{status}:--:c:0:0:\nmmlsfileset::0:1:::(b):Deleted:--:c:0:0:\n"
    text += "mmlsfileset::0:1:::c:Deleted:--:c:0:0:\n"
    found = parse(table(text, "mmlsfileset")[""], {"a": None, "b": None, "c": None})
    assert found["a"] and found["a"].status == status and found["b"] is None and found["c"] is None


@pytest.mark.parametrize(("row", "why"), [("a:Linked:--:c:0:0", "is Linked, but its path is"), ("a", "has no status")])
def test_a_row_that_makes_no_sense_is_refused(row: str, why: str) -> None:
    rows = table(f"{SHORT}mmlsfileset::0:1:::{row}:\n", "mmlsfileset")[""]
    with pytest.raises(ValueError, match=why):
        parse(rows, {"a": None})
