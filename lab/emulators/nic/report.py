# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The report that mlnx_qos prints about a port; its white space is the tool's own, down to trailing blanks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .driver import TOTAL_BUFFER

if TYPE_CHECKING:
    from collections.abc import Iterable


def report(port: dict[str, Any], version: str) -> Iterable[str]:
    """Yield the lines of a port's report (see `driver.factory`) as this version of the tool prints them."""
    old = version.startswith("5.")
    yield f"DCBX mode: {'OS' if port['dcbx'] == 'os' else 'Firmware'} controlled"
    yield f"Priority trust state: {'dscp' if port['apps'] else 'pcp'}"
    if port["apps"]:
        yield "dscp2prio mapping:"
        yield from _dscp_lines(port["apps"])
    if old:
        yield "default priority:"
    sizes = ",".join(str(size) for size in port["buffer_size"])
    yield f"Receive buffer size (bytes): {sizes},{'total_size' if old else 'max_buffer_size'}={TOTAL_BUFFER}"
    yield f"Cable len: {port['cable_len']}"
    yield "PFC configuration:"
    yield "\tpriority    " + "   ".join("01234567")
    yield "\tenabled     " + "".join(f"{bit}   " for bit in port["pfc"])
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
