# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The report that mlnx_qos prints about a port; its white space is the tool's own, down to trailing blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .driver import TOTAL_BUFFER

if TYPE_CHECKING:
    from collections.abc import Iterable

NO_BUFFERS = "Buffers commands are not supported on your system"
VERSIONS = ("5.9.1", "23.4", "24.10.1", "25.7", "26.7")
"""One of each output: the default priority goes with 25.07, the total is called max_buffer_size after 23.04."""


def report(port: dict[str, Any], version: str) -> Iterable[str]:
    """Yield the lines of a port's report (see `driver.factory`) as this version of the tool prints them."""
    release = tuple(int(part) for part in version.split("."))
    yield f"DCBX mode: {'OS' if port['dcbx'] == 'os' else 'Firmware'} controlled"
    yield f"Priority trust state: {'dscp' if port['apps'] else 'pcp'}"
    if port["apps"]:
        yield "dscp2prio mapping:"
        yield from _dscp_lines(port["apps"])
    if release < (25, 7):
        yield "default priority:"
    buffers = port.get("buffers", True)
    if buffers:
        sizes = ",".join(str(size) for size in port["buffer_size"])
        total = "total_size" if release < (23, 5) else "max_buffer_size"
        yield f"Receive buffer size (bytes): {sizes},{total}={TOTAL_BUFFER}"
    else:
        yield NO_BUFFERS
    yield f"Cable len: {port['cable_len']}"
    yield "PFC configuration:"
    yield "\tpriority    " + "   ".join("01234567")
    yield "\tenabled     " + "".join(f"{bit}   " for bit in port["pfc"])
    if buffers:
        yield "\tbuffer      " + "".join(f"{number}   " for number in port["prio2buffer"])
    yield from _tc_lines(port)


def _dscp_lines(apps: list[list[int]]) -> Iterable[str]:
    for priority in range(8):
        mapped = [f"{app[0]:02d}," for app in apps if app[1] == priority]
        for start in range(0, len(mapped), 8):
            yield f"\tprio:{priority} dscp:{''.join(mapped[start : start + 8])}"


def _tc_lines(port: dict[str, Any]) -> Iterable[str]:
    for tc in range(8):
        priorities = [priority for priority in range(8) if port["prio_tc"][priority] == tc]
        if priorities:
            limit = f"{port['ratelimit'][tc]:.1f} Gbps" if port["ratelimit"][tc] else "unlimited"
            share = f", bw: {port['tcbw'][tc]}%" if port["tsa"][tc] == "ets" else ""
            yield f"tc: {tc} ratelimit: {limit}, tsa: {port['tsa'][tc]}{share}"
        yield from (f"\t priority:  {priority}" for priority in priorities)
