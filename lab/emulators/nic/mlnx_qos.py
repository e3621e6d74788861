# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlnx_qos of mlnx-tools 25.07: sets and shows QoS of one port, option after option, and not as a transaction.

Version 5.9.1 (state key `version`) prints `default priority:` and calls the buffer's total `total_size`.
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

SETTERS = ("cable_len", "specific_pfc", "pfc", "dscp2prio", "trust", "prio2buffer", "buffer_size")
SETTERS += ("ratelimit", "tsa", "tcbw", "prio_tc")
NO_TRUST = "Priority trust state is not supported on your system"
NO_BUFFERS = "Buffers commands are not supported on your system"
NO_RATE = "Rate limit is not supported on your system!"


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
            finished = self._apply(driver)
        finally:
            _act(effect, driver, before)
        if not finished:
            print(*report(port, self.state["version"], show_all=self.options.show_all), sep="\n")

    def _apply(self, driver: Driver) -> bool:
        """Apply everything that the command line asks for; return whether the tool ends without its report."""
        options, port = self.options, driver.port
        self._dcbx(driver)
        if options.cable_len:
            driver.set_pfc(cable_len=self._number(options.cable_len, 0, 65535, "cable_len"))
        if options.get_pfc:
            if options.get_pfc not in "01234567":
                raise Refused("pfc index must be in range of 0-7")
            print(port["pfc"][int(options.get_pfc)])
            return True
        if options.specific_pfc:
            driver.set_pfc(_specific(options.specific_pfc, port["pfc"]))
            return True
        if options.pfc:
            driver.set_pfc(self._list(options.pfc, 1, "PFC", "pfc list"))
        self._priorities(driver)
        self._buffers(driver)
        self._ratelimit(driver)
        self._ets(driver)
        return False

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

    def _buffers(self, driver: Driver) -> None:
        placed, sizes = list(driver.port["prio2buffer"]), list(driver.port["buffer_size"])
        if self.options.prio2buffer:
            items = _counted(self.options.prio2buffer.split(","), "prio2buffer")
            placed[: len(items)] = [self._number(item, 0, 7, "prio buffer") for item in items]
        if not (self.options.prio2buffer or self.options.buffer_size):
            return
        try:
            if self.options.buffer_size:
                items = _counted(self.options.buffer_size.split(","), "buffer_size")
                sizes[: len(items)] = [int(item) for item in items]
            driver.set_buffers(placed, sizes)
        except ValueError:
            raise Refused("Buffers commands error") from None
        except NetlinkError as error:
            raise Refused("Buffers commands error" if str(error) == BAD_VALUE else str(error)) from None

    def _ratelimit(self, driver: Driver) -> None:
        if self.options.ratelimit:
            limits = self._list(self.options.ratelimit, 1000000, "ratelimit", "ratelimit")
            try:
                driver.set_ratelimit(limits)
            except NetlinkError:
                print(NO_RATE)  # and goes on, to end with exit code 0

    def _ets(self, driver: Driver) -> None:
        options, port = self.options, driver.port
        prio_tc, tsa, tcbw = list(port["prio_tc"]), list(port["tsa"]), list(port["tcbw"])
        if options.tsa:
            tsa = options.tsa.split(",")
            for wrong in [kind for kind in tsa[:8] if kind not in ("strict", "ets", "vendor")]:
                self._usage(str(("Bad TSA value: ", wrong)))  # the real tool prints the pair as Python shows it
            _counted(tsa, "TSA", "tsa list")
        if options.tcbw:
            tcbw = self._list(options.tcbw, 100, "ETS BW", "tcbw list")
            if any(share and kind != "ets" for share, kind in zip(tcbw, tsa)):
                self._usage("ETS BW for a strict/vendor TC must be 0")
        if options.prio_tc:
            prio_tc = self._list(options.prio_tc, 7, "UP => TC mapping", "prio_tc list")
        if options.tsa or options.tcbw or options.prio_tc:
            driver.set_ets(prio_tc, tsa, tcbw)

    def _without_dcb(self, error: NetlinkError) -> NoReturn:
        """Answer for a port without DCB; a missing one looks the same."""
        options = self.options
        if options.dcbx in ("os", "fw"):
            raise Crashed(f"OSError: {error}")
        if options.pfc or options.cable_len or options.specific_pfc or options.get_pfc:
            raise Crashed(f"OSError: {error}", 'TypeError: can only concatenate str (not "OSError") to str')
        if options.dscp2prio:
            raise error
        if options.trust:
            raise Refused(NO_TRUST)
        if options.prio2buffer or options.buffer_size:
            raise Refused(NO_TRUST, NO_BUFFERS)
        raise Refused(NO_TRUST, NO_BUFFERS, NO_RATE, "ETS features are not supported on your system")

    def _list(self, text: str, most: int, name: str, subject: str) -> list[int]:
        """Parse exactly 8 numbers; a wrong number is told before a wrong count."""
        items = text.split(",")
        numbers = [self._number(item, 0, most, name) for item in items[:8]]
        _counted(items, name, subject)
        return numbers

    def _number(self, text: str, least: int, most: int, name: str) -> int:
        try:
            number = int(text)
            if not least <= number <= most:
                raise ValueError(f"{number} is not in the range {least}..{most}")
        except ValueError as error:
            self._usage(f"Bad value for {name}: {error}")
        return number

    def _usage(self, text: str) -> NoReturn:
        raise Refused(text, f"{self.parser.get_usage()}")


def _counted(items: list[str], name: str, subject: str | None = None) -> list[str]:
    """Return the items when there are at most 8 of them, and exactly 8 for a list that has a `subject`."""
    if len(items) > 8:
        raise Refused(f"Too many items for {name}")
    if subject and len(items) < 8:
        raise Refused(f"{subject} must have 8 items")
    return items


def _specific(text: str, mask: list[int]) -> list[int]:
    """Return the mask with the given priorities replaced; x keeps one."""
    items = text.split(",")
    for item in items:
        if item not in ("0", "1", "x"):
            raise Refused(f"Bad value for 'PFC': {item}")
    if len(items) != 8:
        raise Refused("pfc list must have 8 items")
    return [old if item == "x" else int(item) for item, old in zip(items, mask)]


def _mapping(text: str) -> tuple[str, int, int]:
    """Parse one --dscp2prio argument; what has the right shape but impossible numbers ends without a word."""
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
        (("-F", "--specific_pfc"), "specific_pfc"),
        (("-P", "--get_pfc"), "get_pfc"),
        (("-p", "--prio_tc"), "prio_tc"),
        (("-s", "--tsa"), "tsa"),
        (("-t", "--tcbw"), "tcbw"),
        (("-r", "--ratelimit"), "ratelimit"),
        (("-d", "--dcbx"), "dcbx"),
        (("--trust",), "trust"),
        (("--cable_len",), "cable_len"),
        (("--prio2buffer",), "prio2buffer"),
        (("--buffer_size",), "buffer_size"),
        (("-i", "--interface"), "interface"),
    ):
        parser.add_option(*flags, dest=name)
    parser.add_option("--dscp2prio", dest="dscp2prio", action="append")
    parser.add_option("-a", dest="show_all", action="store_true", default=False)
    return parser
