# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What mlnx_qos takes and prints: its command line, the two ways in which it gives up, and its report on a port.

White space is the tool's own, down to trailing blanks.
"""

from __future__ import annotations

import optparse
from typing import TYPE_CHECKING, Any

from .driver import TOTAL_BUFFER

if TYPE_CHECKING:
    from collections.abc import Iterable


class Refused(Exception):
    """The tool gives up with these lines on stdout and exit code 1. What it did before stays done."""


class Crashed(Refused):
    """The tool ends with an uncaught Python exception: the lines are the end of its traceback, on stderr."""


def mapping(text: str) -> tuple[str, int, int]:
    """Parse one --dscp2prio argument; what has the right shape but impossible numbers ends silently."""
    if text == "flush":
        return text, 0, 0
    try:
        action, dscp, priority = text.split(",")
        numbers = int(dscp), int(priority)
    except ValueError:
        raise Crashed("AttributeError: 'ValueError' object has no attribute 'errno'") from None
    if action not in ("set", "del") or not 0 <= numbers[0] <= 63 or not 0 <= numbers[1] <= 7:
        raise Refused
    return (action, *numbers)


def command_line() -> optparse.OptionParser:
    """Return the parser; optparse gives the real tool's unique prefixes, and exit code 2 for unknown options."""
    parser = optparse.OptionParser(prog="mlnx_qos", usage="%prog -i <interface> [options]", version="mlnx_qos 1.2")
    for flags, name in (
        (("-f", "--pfc"), "pfc"),
        (("-d", "--dcbx"), "dcbx"),
        (("--trust",), "trust"),
        (("-p", "--prio_tc"), "prio_tc"),
        (("-s", "--tsa"), "tsa"),
        (("-t", "--tcbw"), "tcbw"),
        (("--cable_len",), "cable_len"),
        (("-i", "--interface"), "interface"),
    ):
        parser.add_option(*flags, dest=name)
    parser.add_option("--dscp2prio", dest="dscp2prio", action="append")
    return parser


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
