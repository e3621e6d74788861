# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of mlnx_qos, and the two ways in which the tool gives up."""

from __future__ import annotations

import optparse


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
