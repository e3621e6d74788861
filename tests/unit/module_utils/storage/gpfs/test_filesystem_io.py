# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Attributes in the words of several releases.

Rows are those of IBM/ibm-spectrum-scale-install-infra and of the tests of hpcugent/vsc-filesystems, re-typed.
"""

from __future__ import annotations

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.filesystem_io import (
    Attributes,
    attributes,
    require_mounted,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.io import Mm

from tests.unit.module_utils.answers import Answers

HEADER = "mmlsfs::HEADER:version:reserved:reserved:deviceName:fieldName:data:remarks:\n"
ON = {"quotasAccountingEnabled": "user;group;fileset", "quotasEnforced": "user;group;fileset"}
GPFS = "90 22 0:52 / /gpfs/fs1 rw,relatime shared:7 - gpfs {} rw\n"
BIND = "90 22 0:52 / /gpfs/fs1 rw,relatime shared:7 - ext4 /dev/vda rw\n"
STATE = """\
mmgetstate::HEADER:version:reserved:reserved:nodeName:nodeNumber:state:quorum:nodesUp:totalNodes:remarks:cnfsState:
mmgetstate::0:1:::nsd1:1:active:4:7:1122::(undefined):
"""
MOUNTS = """\
mmlsmount::HEADER:version:reserved:reserved:localDevName:realDevName:owningCluster:totalNodes:nodeIP:nodeName:
mmlsmount::0:1:::fs1:fs1:lab:1:10.0.0.1:{}:
"""
DEFAULT = f"{HEADER}mmlsfs::0:1:::fs1:defaultMountPoint:%2Fgpfs%2Ffs1::\n"


def mm(text: str) -> Mm:
    return Mm(Answers({"/mm/mmlsfs fs1 -Y": text}), "/mm")


def found(**values: str) -> Attributes:
    rows = "".join(f"mmlsfs::0:1:::fs1:{name}:{value}::\n" for name, value in values.items())
    return attributes(mm(HEADER + rows), "fs1")


def test_a_row_without_its_last_column_and_one_of_another_file_system() -> None:
    text = f"{HEADER}mmlsfs::0:1:::fs1:blockSize:4194304:\nmmlsfs::0:1:::fs10:blockSize:16777216::\n"
    assert attributes(mm(text), "fs1").block_kib() == 4096


def test_pools_differ_in_their_blocks() -> None:
    rows = "mmlsfs::0:1:::fs1:blockSize:1048576:system pool:\nmmlsfs::0:1:::fs1:blockSize:16777216:other pools:\n"
    assert attributes(mm(HEADER + rows), "fs1").block_kib() == 16384
    assert found(storagePools="system;data").pools() == {"system", "data"}


@pytest.mark.parametrize("size", ["", "4M", "512"])
def test_a_block_size_that_is_no_number_is_refused(size: str) -> None:
    with pytest.raises(DeviceError, match="as block size of fs1"):
        found(blockSize=size).block_kib()


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (ON, ""),
        ({**ON, "quotasEnforced": "user%3Bgroup%3Bfileset"}, ""),
        ({**ON, "quotasEnforced": "user;group"}, "mmquotaon -j fs1"),
        ({"quotasAccountingEnabled": "none", "quotasEnforced": "none"}, "mmchfs fs1 -Q yes"),
    ],
)
def test_quotas_of_filesets_are_enforced_or_the_line_is_named(values: dict[str, str], line: str) -> None:
    faults = found(**values).quota_faults()
    assert [f"run `{line}`" in fault for fault in faults] == ([True] if line else [])


def test_an_answer_that_says_nothing_of_quotas_is_no_yes() -> None:
    with pytest.raises(DeviceError, match="does not print whether fs1 enforces quotas"):
        found(blockSize="4194304").quota_faults()
    with pytest.raises(DeviceError, match="mmlsfs prints nothing about fs1"):
        attributes(mm(HEADER), "fs1")


def test_df_of_filesets() -> None:
    assert found(filesetdfEnabled="Yes").df_faults() == []
    [fault] = found(filesetdfEnabled="No").df_faults()
    assert fault.endswith("run `mmchfs fs1 --filesetdf`")


@pytest.mark.parametrize(
    ("table", "node", "mounted"),
    [
        (GPFS.format("fs1"), "", True),
        (GPFS.format("/dev/fs1"), "", True),
        (GPFS.format("fs10"), "nsd1", False),
        ("", "nsd1", False),
        (BIND, "nsd1", True),
        (BIND, "nsd2", False),
    ],
)
def test_an_empty_directory_is_no_file_system(table: str, node: str, mounted: bool) -> None:
    answers = {"/mm/mmgetstate": STATE, "/mm/mmlsmount": MOUNTS.format(node), "/mm/mmlsfs fs1 -T": DEFAULT}
    run = Mm(Answers(answers), "/mm")
    if mounted:
        require_mounted(run, lambda: table, "fs1", "/gpfs/fs1")
    else:
        with pytest.raises(DeviceError, match="fs1 is not mounted at /gpfs/fs1 on this host"):
            require_mounted(run, lambda: table, "fs1", "/gpfs/fs1")
