# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlnx_qos of mlnx-tools 25.07: sets and shows QoS of one port, option after option, and not as a transaction.

State key `version` chooses one of VERSIONS. A port with `buffers: false` has a driver without DCB buffers; there 25.07
and later crash. Options for rate limits and buffers are not emulated: they end like unknown ones. White space of the
report is the tool's own, down to trailing blanks.
"""

from __future__ import annotations

import copy
import optparse
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, host_device, procfs
from .driver import BAD_VALUE, TOTAL_BUFFER, Driver, NetlinkError, driver_of, port_of

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


ETS = {"prio_tc": range(8), "tsa": ("strict", "ets", "vendor"), "tcbw": range(101)}
SETTERS = ("pfc", "dscp2prio", "trust", "cable_len", *ETS)
NO_TRUST = "Priority trust state is not supported on your system"
NO_REPORT = (
    NO_TRUST,
    NO_BUFFERS,
    "Rate limit is not supported on your system!",
    "ETS features are not supported on your system",
)


def main(name: str, argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    device = host_device("mlnx_qos")
    with Call(device, name, argv) as call:
        parser = command_line()
        options, rest = parser.parse_args(argv)
        for trouble, text in ((rest, "Bad arguments"), (not options.interface, "Interface name is required")):
            if trouble:
                print(text)
                parser.print_usage()
                sys.exit(1)
        effect = call.fault(writes=options.dcbx not in (None, "get") or any(getattr(options, key) for key in SETTERS))
        with device.state({"version": "25.7", "ports": {}}) as state:
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
        if not port.get("buffers", True) and int(self.state["version"].partition(".")[0]) >= 25:
            raise Crashed("AttributeError: 'KeyError' object has no attribute 'errno'")
        before = copy.deepcopy(port)
        driver = driver_of(port, privileged=os.geteuid() == 0)
        try:
            self._dcbx(driver)
            self._cable(driver)
            if self.options.pfc:
                driver.set_pfc(self._mask(self.options.pfc))
            self._priorities(driver)
            self._ets(driver)
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

    def _cable(self, driver: Driver) -> None:
        if self.options.cable_len is not None:
            metres = int(self.options.cable_len)
            if not 0 <= metres <= 65535:
                raise Refused(f"Bad value for cable_len: {metres} is not in the range 0..65535")
            driver.set_cable(metres)

    def _ets(self, driver: Driver) -> None:
        changes = {}
        for name, values in ETS.items():
            if text := getattr(self.options, name):
                legal = {str(value): value for value in values}
                items = [legal[item] for item in text.split(",") if item in legal]
                if len(items) != 8:
                    raise Refused(f"{name} list must have 8 items")
                changes[name] = items
        after = {**driver.port, **changes}
        if any(share for at, share in enumerate(after["tcbw"]) if after["tsa"][at] != "ets"):
            self._usage("ETS BW for a strict/vendor TC must be 0")
        if changes:
            driver.set_ets(**changes)

    def _priorities(self, driver: Driver) -> None:
        """Map DSCPs to priorities. "Trust dscp" is no register: it means that the kernel's table has an entry."""
        if self.options.trust and self.options.dscp2prio:
            raise Refused("trust and dscp2prio commands cannot be used at the same time.")
        for action, dscp, priority in [mapping(text) for text in self.options.dscp2prio or []]:
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
