# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of filesets from rows of mmrepquota -Y. Block numbers are in KiB."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..text import Row
from .plan import Pair, Quota

FILESET = "FILESET"
_NUMBER = re.compile(r"-?[0-9]+")


def parse(rows: Iterable[Row], wanted: Mapping[str, Quota], block_kib: int) -> dict[str, Quota]:
    """Limits of the wanted filesets that the report lists. Raises ValueError for a row that is not understood.

    GPFS rounds a block limit up to whole blocks of the file system: 200,000,000,000 bytes became 200,001,191,936 with
    blocks of 16 MiB (IBM/ibm-spectrum-scale-csi, issue 463). So a limit is the wanted one if it is less than one block
    above it. Numbers of inodes are not rounded.
    """
    found = {}
    for row in rows:
        if row["quotaType"] == FILESET and (name := row["name"] or row["filesetname"]) in wanted:
            want = wanted[name]
            block = Pair(_number(row, "blockQuota"), _number(row, "blockLimit"))
            rounded = Pair(
                _as_wanted(block.soft, want.block.soft, block_kib), _as_wanted(block.hard, want.block.hard, block_kib)
            )
            files = Pair(_number(row, "filesQuota"), _number(row, "filesLimit"))
            found[name] = Quota(rounded, files, _number(row, "blockUsage"), _number(row, "filesUsage"))
    return found


def switched_off(rows: Iterable[Row]) -> bool:
    """Whether the report says that limits of filesets are not enforced."""
    return any(row["quotaType"] == FILESET and row["quota"].lower() == "off" for row in rows)


def _as_wanted(found: int, wanted: int, block_kib: int) -> int:
    return wanted if 0 < wanted <= found < wanted + block_kib else found


def _number(row: Row, name: str) -> int:
    if not _NUMBER.fullmatch(row[name]):
        raise ValueError(f"fileset {row['name']} has {row[name]!r} as {name}")
    return int(row[name])
