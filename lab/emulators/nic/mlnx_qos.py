# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlnx_qos of mlnx-tools 25.07: sets and shows QoS of one port, option after option, and not as a transaction.

Version 5.9.1 (state key `version`) prints `default priority:` and calls the buffer's total `total_size`. Options for
ETS, rate limits, buffers and the cable are not emulated: they end like unknown ones.
"""

from __future__ import annotations

import copy
import optparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, host_device, procfs
from .driver import BAD_VALUE, Driver, NetlinkError, port_of
from .report import report

if TYPE_CHECKING:
    from collections.abc import Iterable

SETTERS = ("pfc", "dscp2prio", "trust")
NO_TRUST = "Priority trust state is not supported on your system"
NO_REPORT = (
    NO_TRUST,
    "Buffers commands are not supported on your system",
    "Rate limit is not supported on your system!",
    "ETS features are not supported on your system",
)


class Refused(Exception):
    """The tool gives up with these lines on stdout and exit code 1. What it did before stays done."""


class Crashed(Refused):
    """The tool ends with an uncaught Python exception: the lines are the end of its traceback, on stderr."""


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("mlnx_qos")
    with Call(device, name, argv) as call:
        parser = _parser()
        options, rest = parser.parse_args(argv)
        for trouble, text in ((rest, "Bad arguments"), (not options.interface, "Interface name is required")):
            if trouble:
                print(text)
                parser.print_usage()
                sys.exit(1)
        effect = call.fault(writes=options.dcbx not in (None, "get") or any(getattr(options, key) for key in SETTERS))
        with device.state({"version": "25.07", "ports": {}}) as state:
            call.rc = Tool(parser, options, state).run(effect)
        if effect == DIE:
            raise Killed
    return call.rc or 0


class Tool:
    """One run of mlnx_qos on one port."""

    def __init__(self, parser: optparse.OptionParser, options: optparse.Values, state: dict[str, Any]) -> None:
        """Take the parsed command line and the device's state."""
        self.parser = parser
        self.options = options
        self.state = state

    def run(self, effect: str | None) -> int:
        """Apply the options in the tool's own order, act out a fault, print the report; return the exit code."""
        if any("lldpad" in comm for comm in _commands()):
            print("****** WARNING: lldpad service is running and may overwrite your settings ******\n")
        try:
            self._answer(effect)
        except Crashed as crash:
            frame = '  File "/usr/bin/mlnx_qos", in <module>'
            print("Traceback (most recent call last):", frame, *crash.args, sep="\n", file=sys.stderr)
            return 1
        except (Refused, NetlinkError) as refusal:
            print(*refusal.args, sep="\n", end="\n" if refusal.args else "")
            return 1
        return 0

    def _answer(self, effect: str | None) -> None:
        try:
            port = port_of(self.state, self.options.interface)
        except NetlinkError as error:
            self._without_dcb(error)
        if effect == REFUSE:
            raise Refused(BAD_VALUE)
        before = copy.deepcopy(port)
        driver = Driver(port, privileged=os.geteuid() == 0)
        try:
            self._dcbx(driver)
            if self.options.pfc:
                driver.set_pfc(self._mask(self.options.pfc))
            self._priorities(driver)
        finally:
            _act(effect, driver, before)
        print(*report(port, self.state["version"]), sep="\n")

    def _dcbx(self, driver: Driver) -> None:
        if self.options.dcbx in ("os", "fw"):
            try:
                driver.set_dcbx(self.options.dcbx)
            except NetlinkError as error:
                raise Crashed(f"OSError: {error}") from None
        elif self.options.dcbx not in (None, "get"):
            raise Refused("Invalid dcbx mode command. Refer to the help.")

    def _priorities(self, driver: Driver) -> None:
        """Map DSCPs to priorities. "Trust dscp" is no register: it means that the kernel's table has an entry."""
        if self.options.trust and self.options.dscp2prio:
            raise Refused("trust and dscp2prio commands cannot be used at the same time.")
        for action, dscp, priority in [_mapping(text) for text in self.options.dscp2prio or []]:
            if action == "set":
                driver.set_app(dscp, priority)
            elif action == "del":
                driver.del_app(dscp, priority)
            else:
                _flush(driver)
        if self.options.trust not in (None, "pcp", "dscp"):
            raise Refused("Invalid trust state command. Refer to the help.")
        if self.options.trust == "pcp":
            _flush(driver)
        elif self.options.trust == "dscp" and not driver.port["apps"]:
            for dscp in range(64):
                driver.set_app(dscp, dscp >> 3)

    def _without_dcb(self, error: NetlinkError) -> NoReturn:
        """Answer for a port without DCB; a missing one looks the same."""
        options = self.options
        if options.dcbx in ("os", "fw"):
            raise Crashed(f"OSError: {error}")
        if options.pfc:
            raise Crashed(f"OSError: {error}", 'TypeError: can only concatenate str (not "OSError") to str')
        if options.dscp2prio:
            raise error
        if options.trust:
            raise Refused(NO_TRUST)
        raise Refused(*NO_REPORT)

    def _mask(self, text: str) -> list[int]:
        """Parse exactly 8 bits; the tool reports a wrong bit before a wrong count."""
        items = text.split(",")
        try:
            bits = [int(item) for item in items[:8]]
            for bit in bits:
                if bit not in (0, 1):
                    raise ValueError(f"{bit} is not in the range 0..1")
        except ValueError as error:
            self._usage(f"Bad value for PFC: {error}")
        if len(items) != 8:
            raise Refused("Too many items for PFC" if len(items) > 8 else "pfc list must have 8 items")
        return bits

    def _usage(self, text: str) -> NoReturn:
        raise Refused(text, f"{self.parser.get_usage()}")


def _mapping(text: str) -> tuple[str, int, int]:
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


def _flush(driver: Driver) -> None:
    for dscp, priority in list(driver.port["apps"]):
        driver.del_app(dscp, priority)


def _act(effect: str | None, driver: Driver, before: dict[str, Any]) -> None:
    """Act out a fault of a call that has just sent its requests."""
    if effect == LIE:
        driver.port.update(before)
    elif effect == DIE and driver.history:
        driver.port.update(driver.history[(len(driver.history) - 1) // 2])
    elif effect == DRIFT and driver.history:
        driver.set_pfc([0, 0, 0, 0, 0, 1, 0, 0])


def _commands() -> Iterable[str]:
    """Yield the name of each process, as `ps -e` would."""
    for path in procfs().glob("[0-9]*/comm"):
        try:
            yield path.read_text()
        except OSError:  # the process ended meanwhile
            continue


def _parser() -> optparse.OptionParser:
    """Return the parser; optparse gives the real tool's unique prefixes, and exit code 2 for unknown options."""
    parser = optparse.OptionParser(prog="mlnx_qos", usage="%prog -i <interface> [options]", version="mlnx_qos 1.2")
    for flags, name in (
        (("-f", "--pfc"), "pfc"),
        (("-d", "--dcbx"), "dcbx"),
        (("--trust",), "trust"),
        (("-i", "--interface"), "interface"),
    ):
        parser.add_option(*flags, dest=name)
    parser.add_option("--dscp2prio", dest="dscp2prio", action="append")
    return parser
