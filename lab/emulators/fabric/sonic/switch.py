# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The switch on disk: every line that users type goes through here, is journalled, and may meet a fault.

SONiC has no change of its own that waits under a timer. The fault `stale` is another operator's edit just before the
line, which is not saved; `edit` is one that is.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric import data_model
from lab.emulators.fabric.sonic import configdb
from lab.emulators.fabric.sonic.cli import Cli, script
from lab.emulators.fabric.sonic.programs import SAVED, due
from lab.emulators.fabric.switch import EmulatedSwitch, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.emulators.fabric.data_model import Tree
    from lab.emulators.fabric.switch import State

READS = (
    *("sonic-cfggen -d --print-data", f"sudo sonic-cfggen -j {SAVED} --print-data", "sonic-db-cli CONFIG_DB HGET"),
    *("systemctl list-units", "sonic-db-dump", "show ", "cat "),
)


class Switch(EmulatedSwitch):
    """One emulated SONiC switch."""

    tool = "sonic"
    platforms = ("xgs", "spectrum")
    factory = staticmethod(configdb.factory)
    terminal = Cli
    failed = "Error: Could not connect to Redis at localhost:6379: Connection refused"
    in_force = ("running", "saved", "units")
    staged = ("files",)

    def forwarding(self, state: State) -> dict[str, Any]:
        """Return what packets meet here."""
        return configdb.forwarding(state)

    def known(self, state: State) -> Iterable[str]:
        """Return who may log in."""
        return state["users"]

    def reads_only(self, line: str) -> bool:
        """Say whether a line can't change anything."""
        return line.startswith(READS)

    def leave_waiting(self, state: State, now: float) -> None:
        """Let another operator edit a value that Drawbridge owns, and one that it doesn't."""
        del now
        port = next(iter(state["running"]["PORT"]))
        configdb.merge(state, {"PORT": {port: {"mtu": "1500", "description": "maintenance"}}})

    def edit(self, state: State, now: float) -> None:
        """Make the edit of `stale`, and save it."""
        self.leave_waiting(state, now)
        state["saved"] = copy.deepcopy(state["running"])

    def restart(self, state: State, now: float) -> None:
        """Come up with the saved configuration. Transient units are gone, files in /var/tmp are not."""
        del now
        state["running"], state["units"] = copy.deepcopy(state["saved"]), {}
        for port in state["ports"].values():
            port["flaps"] += 1

    def drift(self, before: State, after: State) -> None:
        """Let another user put the last value that changed back to what it was."""
        if paths := data_model.changed(before["running"], after["running"]):
            _put_back(before["running"], after["running"], paths[-1:])

    def expire(self, state: State, now: float) -> str:
        """Run the service of a timer that has run out."""
        if not (name := due(state, now)):
            return ""
        try:
            script(state, state["units"][name]["command"][-1], now)
        except Refused:
            state["units"][name]["failed"] = True
        else:
            del state["units"][name]
        return name

    def half(self, state: State, before: State) -> None:
        """Leave half of a patch, as an updater does that is killed: the port that it was at stays down."""
        paths = data_model.changed(before["running"], state["running"])
        _put_back(before["running"], state["running"], paths[len(paths) // 2 :])
        flapped = [port for port, it in state["ports"].items() if it != before["ports"][port]]
        for port in flapped[-1:]:
            state["running"]["PORT"][port]["admin_status"] = "down"


def _put_back(before: Tree, after: Tree, paths: list[tuple[str, ...]]) -> None:
    """Give values their old ones, or none."""
    for table, key, *field in paths:
        old = before.get(table, {}).get(key, {})
        if not field:
            after[table].pop(key, None)
        elif field[0] in old:
            after[table][key][field[0]] = old[field[0]]
        else:
            after[table][key].pop(field[0], None)
            if not after[table][key]:
                del after[table][key]
    for table in [table for table, entries in after.items() if not entries]:
        del after[table]
