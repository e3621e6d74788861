# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Limits of projects' filesets in one file system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ....core.command import Command
from ....core.converge import DeviceError, Step
from ....core.layer import Layer, Params, Work, records
from ..filesystem_io import COMMON_SPEC
from ..io import Mm
from .io import Quotas
from .plan import Pair, Quota, QuotaState, plan, too_small

SPEC: dict[str, Any] = {
    **COMMON_SPEC,
    "filesets": records(
        name={"type": "str", "required": True},
        block_kib={"type": "int", "default": 0},
        inodes={"type": "int", "default": 0},
    ),
}


def work(params: Params, check: bool) -> Work[QuotaState]:
    """One mmrepquota for all of them, and one mmsetquota for each that differs."""
    want = QuotaState({it["name"]: _quota(it) for it in params["filesets"]})
    if len(want.quotas) < len(params["filesets"]):
        raise DeviceError("filesets: a name is listed twice")
    mm = Mm(Command(params["timeout_s"]), params["mm_path"], params["lock_wait_s"])
    device = _Seen(mm, params["device"], want)
    return Work(device, plan, want, results_of=partial(_warnings, device))


class _Seen(Quotas):
    """Remembers what filesets used before the change."""

    first: Mapping[str, Quota] | None = None

    def read(self) -> QuotaState:
        found = super().read()
        if self.first is None:
            self.first = found.quotas
        return found


def _warnings(device: _Seen, steps: Sequence[Step[QuotaState]]) -> dict[str, Any]:
    """A limit below the usage is set all the same."""
    first = device.first or {}
    found = (too_small(name, first[name], quota) for name, quota in (it.payload for it in steps) if name in first)
    warnings = [text for text in found if text]
    return {"warnings": warnings} if warnings else {}


def _quota(it: Mapping[str, Any]) -> Quota:
    if it["block_kib"] < 0 or it["inodes"] < 0:
        raise DeviceError(f"filesets: limits of {it['name']} must not be negative; 0 is no limit")
    return Quota(Pair.both(it["block_kib"]), Pair.both(it["inodes"]))


MM_QUOTA = Layer(SPEC, work)
