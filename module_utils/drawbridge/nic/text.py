# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The parser of mlnx_qos's report about a port.

The report differs between releases from 5.9 to 26.07, so the parser uses only lines that all of them print. It ignores
the order of DSCPs: the kernel lists them in the order in which they were added.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .plan import NicPortQos
from .queues import PRIORITIES

_DCBX = re.compile(r"^DCBX mode: (OS|Firmware) controlled", re.M)
_TRUST = re.compile(r"^Priority trust state: (pcp|dscp|none)", re.M)
_MAPPED = re.compile(r"^\s+prio:([0-7]) dscp:([0-9,]+)", re.M)
_PFC = re.compile(r"^\s+enabled\s+((?:[01]\s+){8})", re.M)
_CABLE = re.compile(r"^Cable len: (\d+)$", re.M)
_CLASS = re.compile(r"^tc: ([0-7]) ratelimit: .+, tsa: (\w+)(?:, bw: (\d+)%)?\n((?:\t priority: +[0-7]\n?)*)", re.M)
_LLDPAD = "lldpad service is running"


class UnreadableReport(ValueError):
    """The text is no report of a port that can be managed; the message names the missing or wrong part."""


def parse(report: str, want: NicPortQos, up: bool = True) -> NicPortQos:
    """Read what `want` has a value for, of the map only its DSCPs. Raises UnreadableReport."""
    if _LLDPAD in report:
        raise UnreadableReport("lldpad runs on the host and would overwrite the QoS; stop and disable lldpad")
    trust, pfc, dcbx = _TRUST.search(report), _PFC.search(report), _DCBX.search(report)
    if not (trust and pfc and dcbx):
        missing = "DCBX mode" if not dcbx else "trust state" if not trust else "PFC configuration"
        raise UnreadableReport(f"mlnx_qos printed no {missing}")
    mapped = {
        int(dscp): int(priority)
        for priority, listed in _MAPPED.findall(report)
        for dscp in listed.split(",")
        if dscp.strip()
    }
    enabled = frozenset(priority for priority, bit in enumerate(pfc.group(1).split()) if bit == "1")
    own = {dscp: mapped[dscp] for dscp in sorted(want.dscp_priority) if dscp in mapped}
    owner = "os" if dcbx.group(1) == "OS" else "fw"
    port = NicPortQos(trust.group(1), own, enabled, owner, up=up)
    cable = _CABLE.search(report)
    return replace(
        port,
        queues=queues(report) if want.queues else (),
        cable_m=int(cable.group(1)) if want.cable_m and cable else 0,
    )


def queues(report: str) -> tuple[tuple[int, str, int], ...]:
    """Traffic class, algorithm and share of each priority. Raises UnreadableReport."""
    found: dict[int, tuple[int, str, int]] = {}
    for number, algorithm, share, members in _CLASS.findall(report):
        found.update((int(priority), (int(number), algorithm, int(share or 0))) for priority in members.split()[1::2])
    if sorted(found) != list(PRIORITIES):
        raise UnreadableReport("mlnx_qos printed no traffic class of some priorities")
    return tuple(found[priority] for priority in PRIORITIES)
