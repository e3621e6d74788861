# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Reports of public tests, re-typed: treydock/puppet-module-gpfs v2.6.1 and treydock/gpfs_exporter 3.5.0.

The rounded number is that of IBM/ibm-spectrum-scale-csi, issue 463.
"""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.plan import (
    Pair,
    Quota,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.quotas.text import (
    parse,
    switched_off,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.text import parse as table

HEADER = (
    "mmrepquota::HEADER:version:reserved:reserved:filesystemName:quotaType:id:name:blockUsage:blockQuota:blockLimit:"
    "blockInDoubt:blockGrace:filesUsage:filesQuota:filesLimit:filesInDoubt:filesGrace:remarks:quota:defQuota:fid:"
    "filesetname:\n"
)
REPORT = f"""\
*** Report for USR GRP FILESET quotas on test
{HEADER}\
mmrepquota::0:1:::test:USR:0:qtest1:256:5:5:0:none:1:5:5:0:none:i:on:off:0:root:
*** Report for FILESET quotas on test
{HEADER}\
mmrepquota::0:1:::test:FILESET:0:root:337419744:0:0:163840:none:1395:0:0:400:none:i:on:off:::
mmrepquota::0:1:::test:FILESET:1:test3:-12300288:0:0:0:none:1:0:0:0:none:N/A:on:off:::
mmrepquota::0:1:::test:FILESET:2:qtest1:10:1073741824:1073741824:0:none:1:400000:400000:0:none:e:on:off:::
mmrepquota::0:1:::test:GRP:7:qtest1:256:5:5:0:none:1:5:5:0:none:i:on:off:0:root:
mmrepquota::0:1:::test:FILESET:3:project-hpc:828177:0:217264947200:0:none:3118908:0:0:0:none:::0:1:project-hpc:
"""
ASKED, STORED, BLOCK = 200_000_000_000 >> 10, 200_001_191_936 >> 10, 16 << 10


def both(limit: int) -> Quota:
    return Quota(Pair.both(limit))


def test_rows_of_filesets_alone_count_and_those_that_are_missing_have_no_limits() -> None:
    wanted: dict[str, Quota] = dict.fromkeys(("test3", "qtest1", "project-hpc", "new"), Quota())
    assert parse(table(REPORT, "mmrepquota")[""], wanted, BLOCK) == {
        "test3": Quota(),
        "qtest1": Quota(Pair.both(1 << 30), Pair.both(400_000)),
        "project-hpc": Quota(Pair(0, 217_264_947_200)),
    }


def test_the_usage_is_known() -> None:
    found = parse(table(REPORT, "mmrepquota")[""], {"project-hpc": Quota()}, BLOCK)["project-hpc"]
    assert (found.block_used, found.files_used) == (828_177, 3_118_908)


@pytest.mark.parametrize(
    ("stored", "wanted", "block", "same"),
    [
        (STORED, ASKED, BLOCK, True),
        (STORED, ASKED, 1024, False),
        (ASKED, ASKED, BLOCK, True),
        (ASKED - 1, ASKED, BLOCK, False),
        (1024 + BLOCK, 1024, BLOCK, False),
        (0, 1024, BLOCK, False),
        (1024, 0, BLOCK, False),
    ],
)
def test_a_limit_that_was_only_rounded_up_is_the_wanted_one(stored: int, wanted: int, block: int, same: bool) -> None:
    row = f"mmrepquota::0:1:::test:FILESET:2:a:0:{stored}:{stored}:0:none:1:0:0:0:none:e:on:off:::\n"
    found = parse(table(HEADER + row, "mmrepquota")[""], {"a": both(wanted)}, block)["a"]
    assert (found == both(wanted)) is same


@pytest.mark.parametrize("value", ["-", "none", "1.5", ""])
def test_a_limit_that_is_no_number_is_refused(value: str) -> None:
    row = f"mmrepquota::0:1:::test:FILESET:2:a:0:{value}:5:0:none:1:0:0:0:none:e:on:off:::\n"
    with pytest.raises(ValueError, match=f"fileset a has '{value}' as blockQuota"):
        parse(table(HEADER + row, "mmrepquota")[""], {"a": Quota()}, BLOCK)


def test_quotas_that_are_off_are_seen() -> None:
    assert not switched_off(table(REPORT, "mmrepquota")[""])
    off = REPORT.replace("e:on:off", "e:off:off")
    assert switched_off(table(off, "mmrepquota")[""])
    assert switched_off(table(HEADER, "mmrepquota")[""]) is False
