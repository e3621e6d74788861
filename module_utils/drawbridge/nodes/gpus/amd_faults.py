# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of AMD's GPUs in the kernel's log: RAS lines of the amdgpu driver, and what ends them.

The texts are those of amdgpu_ras.c of Linux 6.12. Lines about totals repeat earlier ones and are left out.
"""

from __future__ import annotations

import re

from .state import REBOOT, LogEntry

_PLACE = r"amdgpu ([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}[.][0-7]): "
_NEW = re.compile(
    rf"{_PLACE}(.*\b([1-9][0-9]*) new (uncorrectable|deferred) hardware errors detected in (\w+) block.*)$",
    re.MULTILINE,
)
_FATAL = re.compile(rf"{_PLACE}(.*uncorrectable hardware error\(ERREVENT_ATHUB_INTERRUPT\) detected!.*)$", re.MULTILINE)
_POISON = re.compile(rf"{_PLACE}(.*GPU reset for \S+ RAS poison consumption is issued!.*)$", re.MULTILINE)


def read_log(text: str) -> list[LogEntry]:
    """Each kind of fault of a GPU once, with its last line."""
    found = {}
    for address, words, _count, severity, block in _NEW.findall(text):
        found[address, f"RAS {block}, {severity}"] = (words, severity == "uncorrectable")
    entries = [
        LogEntry(address, code, words.strip(), felt, _MEANINGS[felt], REBOOT if felt else "", warning=not felt)
        for (address, code), (words, felt) in found.items()
    ]
    fatal = dict(_FATAL.findall(text))
    entries += [LogEntry(at, "RAS fatal", said.strip(), True, "the GPU stopped", REBOOT) for at, said in fatal.items()]
    resets = dict(_POISON.findall(text))
    meaning = "a program met an uncorrected error, and the driver reset the GPU"
    return entries + [LogEntry(at, "RAS poison", it.strip(), False, meaning, "", True) for at, it in resets.items()]


_MEANINGS = {True: "uncorrected errors", False: "errors that no program has met yet"}
