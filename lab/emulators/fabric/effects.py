# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Effects of faults that only a switch's terminal has, besides those of every emulated device."""

from __future__ import annotations

SLOW, SYSLOG, LEAVE, STALE, REBOOT, EDIT = "slow", "syslog", "leave", "stale", "reboot", "edit"
TERMINAL_EFFECTS = (SLOW, SYSLOG, LEAVE)
