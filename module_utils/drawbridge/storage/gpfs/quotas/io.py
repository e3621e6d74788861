# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of filesets in one file system, read and set on an admin host."""

from __future__ import annotations

from collections.abc import Sequence

from ....core.converge import DeviceError, Step
from ..filesystem_io import attributes
from ..io import Mm
from ..text import UnreadableAnswer
from ..text import parse as table
from .plan import QuotaState
from .text import parse, switched_off

REPORT = "mmrepquota"


class Quotas:
    """Limits of the wanted filesets."""

    name = "GPFS quotas"

    def __init__(self, mm: Mm, device: str, want: QuotaState) -> None:
        self._mm, self._device, self._want = mm, device, want

    def read(self) -> QuotaState:
        """All of one mmrepquota. A report without rows is an answer: no fileset has limits."""
        found = attributes(self._mm, self._device)
        if faults := found.quota_faults():
            return QuotaState({}, tuple(faults))
        # -Y comes first, and the device last (IBM, mmrepquota)
        text = self._mm.show(REPORT, "-Y", "-j", self._device)
        try:
            rows = table(text, REPORT).get("", [])
            quotas = parse(rows, self._want.quotas, found.block_kib())
        except (UnreadableAnswer, ValueError) as err:
            raise DeviceError(f"{REPORT} {self._device}: {err}", stdout=text) from err
        off = f"quotas of filesets are off in {self._device}; on a cluster node, run `mmquotaon -j {self._device}`"
        return QuotaState(quotas, (off,) if switched_off(rows) else ())

    def apply(self, steps: Sequence[Step[QuotaState]]) -> None:
        """One mmsetquota for each fileset."""
        for step in steps:
            name, quota = step.payload
            self._mm.change("mmsetquota", f"{self._device}:{name}", *quota.arguments())
