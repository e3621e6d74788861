# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""mlxconfig: a firmware's parameters with their default, current and next values; for tests without hosts.

State: `devices`, by PCI address, each with [default, current, next] by parameter, as the tool prints them. A boot puts
the next values into effect. `failing` lists devices of which some parameters can't be read: the tool prints the others
and ends with 3. Formats, texts and streams are those of mlxcfg_ui.cpp in mstflint: errors go to stdout.
"""

from __future__ import annotations

import re
from typing import Any

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, boot_id, host_device

NUMBER = re.compile(r"\w*\((\d+)\)|(\d+)")
ENDS = 3
"""The exit code of every error."""


class Refused(Exception):
    """What follows -E-."""


def main(name: str, argv: list[str]) -> int:
    """`mlxconfig -d PCI -e query [PARAMETER...]` or `mlxconfig -d PCI -y set NAME=VALUE...`; return its exit code."""
    device = host_device("mlxconfig")
    with Call(device, name, argv) as call:
        verb = "set" if "set" in argv else "query"
        words = argv[argv.index(verb) + 1 :]
        effect = call.fault(writes=verb == "set")
        with device.state({"devices": {}}) as state:
            try:
                pci = argv[argv.index("-d") + 1]
                values = _device(state, pci)
                if verb == "set":
                    _set(values, words, effect)
                else:
                    _query(values, words, failing=pci in state.get("failing", ()), effect=effect)
            except Refused as refusal:
                print("-E-", *refusal.args)
                call.rc = ENDS
        if effect == DIE:
            raise Killed
    return call.rc or 0


def _device(state: dict[str, Any], pci: str) -> dict[str, list[str]]:
    if pci not in state["devices"]:
        raise Refused("Failed to open the device")
    if state.get("boot_id") != boot_id():
        for values in state["devices"].values():
            values.update({name: [default, after, after] for name, (default, _, after) in values.items()})
        state["boot_id"] = boot_id()
    return state["devices"][pci]


def _table(values: dict[str, list[str]], names: list[str], *head: str) -> None:
    print("\nDevice #1:\n----------\n\nDevice type:    ConnectX7       \n")
    print(f"{'Configurations:':<16}{head[0]:>36}{head[1]:>16}{head[2]:>18}", *head[3:])
    for name in names:
        mark = "*" if len(set(values[name])) > 1 else " "
        print(f"{mark:<9}{name:<36}", *(f"{value:<15}" for value in values[name]))


def _query(values: dict[str, list[str]], words: list[str], *, failing: bool, effect: str | None) -> None:
    if effect == REFUSE:
        raise Refused("Failed to open the device")
    _table(values, words or list(values), "Default", "Current", "Next Boot")
    if failing:
        raise Refused("Failed to query some of the TLVs:\n    Failed to query the next values of the following TLVs:")


def _set(values: dict[str, list[str]], words: list[str], effect: str | None) -> None:
    wanted = dict(word.split("=") for word in words)
    _table(values, list(wanted), "Default", "Current", "Next Boot", "       New")
    print("\n Apply new Configuration? (y/n) [n] : y\nApplying... ", end="")
    if effect == REFUSE:
        print("Failed!")
        raise Refused("Failed to set configuration: Operation not permitted")
    if effect not in (LIE, DIE):
        for name, number in wanted.items():
            values[name][2] = _as_printed(values[name], number)
    if effect == DRIFT:
        values.update({name: [it[0], it[1], it[1]] for name, it in values.items()})
    print("Done!\n-I- Please reboot machine to load new configurations.")


def _as_printed(row: list[str], number: str) -> str:
    """Return a number in the words that the parameter has for it, if any."""
    known = {next(filter(None, match.groups())): value for value in row if (match := NUMBER.fullmatch(value))}
    words = {"0": "False(0)", "1": "True(1)"} if {"False(0)", "True(1)"} & {*row} else {}
    return known.get(number) or words.get(number, number)
