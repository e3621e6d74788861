# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""dcb of iproute2 on the ports of mlnx_qos: the same state, the same kernel, texts and exit codes of 6.15 and 6.1.

A port may be one of ice or bnxt. Its key `ets_cap` is the number of its traffic classes. State key `iproute2` chooses
the release, 6.15 by default. `app replace` exits with 0 after a refusal too.
"""

from __future__ import annotations

import copy
import json
import os
import sys
from typing import Any

from ..common import DIE, DRIFT, LIE, REFUSE, Call, Killed, host_device
from .driver import (
    BNXT,
    EXISTS,
    ICE,
    MLX5,
    NO_DEVICE,
    NO_ENTRY,
    NOT_PERMITTED,
    NOT_SUPPORTED,
    REFUSED_MODE,
    Driver,
    Ice,
    NetlinkError,
    driver_of,
    port_of,
)

SHOW, SET = "show", ("set", "add", "del", "replace")
READ = "Attribute read"
ERRORS = {
    NO_DEVICE: "No such device",
    NOT_SUPPORTED: "Operation not supported",
    NOT_PERMITTED: "Operation not permitted",
    NO_ENTRY: "No such file or directory",
    EXISTS: "File exists",
    REFUSED_MODE: "Unknown error -1",
}


FLAGS = {
    MLX5: {"os": ("host", "cee", "ieee"), "fw": ("cee", "ieee")},
    ICE: {"os": ("host", "ieee"), "fw": ("lld_managed", "ieee")},
    BNXT: {"os": ("host", "ieee"), "fw": ("lld_managed", "ieee")},
}
"""What a driver says of DCBX: only flags that are set, and mlx5 has none for its firmware."""


class Refused(Exception):
    """Text on stderr; the exit code is 1."""


def main(name: str, argv: list[str]) -> int:
    """Run `dcb [-j] [-N] OBJECT VERB dev NAME WORD...` and return its exit code."""
    device = host_device("mlnx_qos")
    with Call(device, name, argv) as call:
        words = [word for word in argv if not word.startswith("-")]
        what, verb, rest = words[0], words[1], words[4:]
        effect = call.fault(writes=verb in SET)
        with device.state({"version": "25.7", "ports": {}}) as state:
            try:
                port = _port(state, words[3])
                if verb == SHOW:
                    print(json.dumps(_shown(port, what, state.get("iproute2", "6.15")), separators=(",", ":")))
                else:
                    _change(port, what, verb, rest, effect)
            except Refused as refusal:
                print(*refusal.args, file=sys.stderr)
                if "-j" in argv:
                    print()  # the rest of the JSON
                call.rc = int(verb != "replace" or str(refusal).startswith(READ))
        if effect == DIE:
            raise Killed
    return call.rc or 0


def _port(state: dict[str, Any], interface: str) -> dict[str, Any]:
    try:
        return port_of(state, interface)
    except NetlinkError as error:
        raise Refused(f"{READ}: {ERRORS[str(error)]}") from None


def _shown(port: dict[str, Any], what: str, release: str) -> dict[str, Any]:
    if what == "pfc":
        cap, mask = port.get("ets_cap", 8), [bool(bit) for bit in port["pfc"]]
        return {"pfc_cap": cap, "macsec_bypass": False, "delay": port["cable_len"], "prio_pfc": mask}
    if what == "dcbx":
        return dict.fromkeys(FLAGS[port.get("driver", MLX5)][port["dcbx"]], True)
    if what == "app":
        tail = [] if release == "6.1" else [" "]  # a bug of 6.15: a blank in each entry
        apps = [[*app, *tail] for app in sorted(port["apps"])]
        return {"dscp_prio": apps} if apps else {}
    shares = {"tc_bw": port["tcbw"], "pg_bw": [0] * 8, "tc_tsa": port["tsa"], "prio_tc": port["prio_tc"]}
    recommended = {"reco_tc_bw": [0] * 8, "reco_tc_tsa": ["strict"] * 8, "reco_prio_tc": [0] * 8}
    return {"willing": False, "ets_cap": port.get("ets_cap", 8), "cbs": False, **shares, **recommended}


def _change(port: dict[str, Any], what: str, verb: str, words: list[str], effect: str | None) -> None:
    more = "\nCould not add new APP entries" if verb == "replace" else ""
    if effect == REFUSE:
        raise Refused(f"Attribute write: Invalid argument{more}")
    before = copy.deepcopy(port)
    driver = driver_of(port, privileged=os.geteuid() == 0)
    try:
        {"pfc": _pfc, "app": _app, "ets": _ets, "dcbx": _dcbx}[what](driver, verb, words)
    except NetlinkError as error:
        raise Refused(f"Attribute write: {ERRORS.get(str(error), 'Invalid argument')}{more}") from None
    if effect in (LIE, DIE):
        port.update(before)
    elif effect == DRIFT:
        driver.set_pfc([0, 0, 0, 0, 0, 1, 0, 0])


def _pairs(words: list[str]) -> dict[str, list[tuple[int, str]]]:
    """Return a command line's `key 0:a 1:b` as pairs by key."""
    found: dict[str, list[tuple[int, str]]] = {}
    key = ""
    for word in words:
        if ":" in word:
            index, _, value = word.partition(":")
            found[key].append((int(index), value))
        else:
            key = word
            found[key] = []
    return found


def _pfc(driver: Driver, verb: str, words: list[str]) -> None:
    if "delay" in words:
        driver.set_cable(int(words[words.index("delay") + 1]))
        return
    mask = list(driver.port["pfc"])
    for priority, value in _pairs(words)["prio-pfc"]:
        mask[priority] = int(value == "on")
    driver.set_pfc(mask)


def _app(driver: Driver, verb: str, words: list[str]) -> None:
    pairs = [(dscp, int(value)) for dscp, value in _pairs(words)["dscp-prio"]]
    for dscp, _unused in pairs:
        if not 0 <= dscp <= 63:
            raise Refused(f"In DSCP:PRIO mapping, DSCP is expected to be 0..63\nInvalid mapping {dscp}")
    before, named = [(it[0], it[1]) for it in driver.port["apps"]], pairs
    if verb == "replace":
        pairs = [pair for pair in named if pair not in before]
    for dscp, priority in pairs:
        if verb == "del":
            driver.del_app(dscp, priority)
        else:
            driver.set_app(dscp, priority)
    for dscp, priority in before if verb == "replace" else ():
        if dscp in dict(named) and (dscp, priority) not in named:
            try:
                driver.del_app(dscp, priority)
            except NetlinkError:  # mlx5 has removed them already
                raise Refused(f"Attribute write: {ERRORS[NO_ENTRY]}\nCould not remove replaced APP entries") from None


def _ets(driver: Driver, verb: str, words: list[str]) -> None:
    said, cap = _pairs(words), 8 if isinstance(driver, Ice) else driver.port.get("ets_cap", 8)
    named = {"prio-tc": "prio_tc", "tc-tsa": "tsa", "tc-bw": "tcbw"}
    changes: dict[str, Any] = {name: list(driver.port[name]) for name in named.values()}
    for key, pairs in said.items():
        for index, value in pairs:
            if key == "prio-tc" and int(value) >= cap:
                raise Refused("Attribute write: Invalid argument")
            changes[named[key]][index] = value if key == "tc-tsa" else int(value)
    total, shared = sum(changes["tcbw"]), "ets" in changes["tsa"]
    if total != 100 and (shared or total):
        raise Refused(f"Bandwidth percentages in tc-bw sum to {total}%, expected {100 if shared else 0}%")
    driver.set_ets(**changes)


def _dcbx(driver: Driver, verb: str, words: list[str]) -> None:
    if "lld-managed" in words:
        raise NetlinkError(REFUSED_MODE)
    driver.set_dcbx("os" if "host" in words else "fw")
