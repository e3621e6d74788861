# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of NVIDIA's GPUs and of the switches between them in the kernel's log: Xids and SXids, and what ends them.

The table follows NVIDIA's Xid catalogue and AWS's cluster health check. Where they name a reset of the GPU, the node is
rebooted: that resets its GPUs and its switches together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .nvidia import pci
from .state import REBOOT, REPAIR, LogEntry, ends_of

_ADDRESS = r"\(PCI:([0-9a-fA-F:.]+)\)"
_XID = re.compile(rf"NVRM: Xid {_ADDRESS}: (\d+)(?:, (.*))?$", re.MULTILINE)
# a switch adds lines with data, and lines about errors that it corrected
_SXID = re.compile(rf"nvidia-nvswitch\d+: SXid {_ADDRESS}: (\d+), (Fatal|Non-fatal), (.*)$", re.MULTILINE)
_ACTION = 154
"""Says what the faults before it need, and later that nothing is needed any more."""
_NEW_ACTION = re.compile(r" to 0x[0-9a-fA-F]+ \((.*)\)")


def _each(codes: Mapping[str, Iterable[int]]) -> dict[int, str]:
    return {code: words for words, some in codes.items() for code in some}


_OF_JOBS = _each(
    {
        "a job's program failed": (8, 11, 13, 14, 25, 31, 32, 43, 44, 45, 69, 80, 108, 137, 141),
        "a job's engine failed": (
            *(39, 40, 41, 60, 68, 70, 71, 72, 75, 76, 77, 82, 83, 84, 85, 86, 88, 89, 139),
            *(*range(96, 106), *range(126, 136)),
        ),
        "an error that was corrected or contained": (63, 92, 94, 121),
        "a note of the driver": (37, 38, 66, 67, 93, 106, 107, 152, 153, 160, 161, 162),
    }
)
"""Xids after which the next job runs."""
_WATCHED = _each(
    {
        # one that is fatal is followed by _ACTION, and its link is down
        "an error of an NVLink": (74, *range(144, 151)),
        "a part could not be retired": (157,),
        "power smoothing ended, or wears out": (163, 164, 165),
    }
)
_OF_GPUS = {
    46: "the GPU stopped",
    48: "an uncorrected memory error",
    54: "the auxiliary power is not connected",
    61: "the GPU's controller stopped",
    62: "the GPU's controller stopped",
    64: "a memory row could not be remapped",
    79: "the GPU fell off the bus",
    95: "a memory error that was not contained",
    109: "a context switch took too long",
    110: "a security fault of the GPU",
    119: "the GPU's controller does not answer",
    120: "the GPU's controller failed",
    136: "the training of a link failed",
    140: "an uncorrected memory error that was not recovered",
    143: "the GPU could not be initialised",
    151: "a rotation of keys failed",
    155: "an NVLink went down",
    156: "a part was retired",
    158: "a fatal time-out of the GPU",
    171: "an uncorrected memory error",
    172: "an uncorrected error of SRAM",
}
_BROKEN = (54, 64)
"""A reboot does not repair them."""


def read_log(text: str) -> list[LogEntry]:
    """Each Xid of a GPU and each SXid of a switch once, with its last line."""
    xids = {(_function(at), int(code)): words.strip() for at, code, words in _XID.findall(text)}
    sxids = {(_function(at), code, severity): words.strip() for at, code, severity, words in _SXID.findall(text)}
    return [
        *(_xid(address, code, words) for (address, code), words in xids.items()),
        *(_sxid(address, code, severity == "Fatal", words) for (address, code, severity), words in sxids.items()),
    ]


def _xid(address: str, code: int, words: str) -> LogEntry:
    """One that is in no table is felt, and a person has to look at it."""
    name = f"Xid {code}"
    if code in _OF_JOBS:
        return LogEntry(address, name, words, False, _OF_JOBS[code])
    if code in _WATCHED:
        return LogEntry(address, name, words, False, _WATCHED[code], warning=True)
    if code == _ACTION:
        action = _NEW_ACTION.search(words)
        advice = action[1] if action else words
        return LogEntry(address, name, advice, advice != "None", "the driver asks for", ends_of(advice))
    ends = REBOOT if code in _OF_GPUS and code not in _BROKEN else REPAIR
    return LogEntry(address, name, words, True, _OF_GPUS.get(code, "a fault that Drawbridge does not know"), ends)


def _sxid(address: str, code: str, fatal: bool, words: str) -> LogEntry:
    ends, meaning = (REBOOT, "a fatal error of a switch") if fatal else ("", "an error of a switch")
    return LogEntry(address, f"SXid {code}", words, fatal, meaning, ends, not fatal, "switch")


def _function(address: str) -> str:
    """The address of the device's function. Xids leave it out."""
    return pci(address if "." in address else f"{address}.0")
