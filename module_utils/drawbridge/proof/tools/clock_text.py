# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The state of a clock, as chronyc and timedatectl print it."""

from __future__ import annotations

import re
from dataclasses import dataclass

CHRONY = ("chronyc", "-c", "tracking")
SYSTEMD = ("timedatectl", "show", "--property=NTP", "--property=NTPSynchronized")
_OFFSET, _LEAP = 4, 13
"""Columns of chronyc."""
_LEAPS = ("Normal", "Insert second", "Delete second", "Not synchronised")


@dataclass(frozen=True)
class Clock:
    """Seconds that it is off, 0 where the tool does not say, and whether it follows a source."""

    offset_s: float
    synchronised: bool


def chrony(text: str) -> Clock:
    """One line of CHRONY. Raises ValueError."""
    fields = text.strip().split(",")
    if len(fields) <= _LEAP or fields[_LEAP] not in _LEAPS:
        raise ValueError(text)
    return Clock(float(fields[_OFFSET]), fields[_LEAP] != _LEAPS[-1])


def systemd(text: str) -> Clock:
    """Output of SYSTEMD. A host without a time service counts as synchronised: another way may set its clock.

    Raises ValueError.
    """
    found = dict(re.findall(r"^(NTP\w*)=(yes|no)$", text, re.MULTILINE))
    if found.keys() != {"NTP", "NTPSynchronized"}:
        raise ValueError(text)
    return Clock(0.0, found["NTP"] == "no" or found["NTPSynchronized"] == "yes")
