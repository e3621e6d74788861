# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`config apply-patch`: the generic config updater takes a JSON patch of ConfigDB, or refuses it as a whole.

Changes of some tables need their port down (patch_sorter.py, RequiredValueIdentifier). The updater takes each such
port that is up down, makes the changes, and brings it up again: the state's `ports` count that. PFC_WD, BUFFER_POOL and
most of BUFFER_PROFILE are refused on hardware that gcu_field_operation_validators.conf.json does not list; this switch
is not in it.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import jsonpatch
import jsonpointer

from lab.emulators.fabric.sonic import configdb, yang
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.data_model import Tree
    from lab.emulators.fabric.switch import State

USAGE = """Usage: config apply-patch [OPTIONS] PATCH_FILE_PATH
Try "config apply-patch -h" for help.
"""
NEEDS_PORT_DOWN = (
    "BUFFER_PG",
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "BUFFER_QUEUE",
    "PORT_QOS_MAP",
    "QUEUE",
)
GUARDED = ("PFC_WD", "BUFFER_POOL", "BUFFER_PROFILE")


def apply_patch(state: State, text: str, *, dry_run: bool = False) -> str:
    """Do the patch, and return what is printed. Raises Refused; nothing is changed then."""
    before = state["running"]
    target = _target(before, text)
    _validate(before, target)
    flapped = flapping(before, target)
    changes = len(_keys(before, target)) + 2 * len(flapped)
    shown = ["Patch Applier: localhost: Patch application starting.", f"Patch Applier: localhost: Patch: {text}"]
    many = "" if changes == 1 else "s"
    shown += [f"Patch Applier: The localhost patch was converted into {changes} change{many}:"]
    if not dry_run:
        state["running"] = configdb.pruned(target)
        for port in flapped:
            state["ports"][port]["flaps"] += 1
    return "\n".join([*shown, "Patch Applier: localhost patch application completed.", "Patch applied successfully."])


def flapping(before: Tree, target: Tree) -> list[str]:
    """Return the ports that are up and that a change takes down for a moment."""
    touched = {key.split("|")[0] for table, key in _keys(before, target) if table in NEEDS_PORT_DOWN}
    up = [port for port, fields in before["PORT"].items() if fields.get("admin_status") == "up"]
    return [port for port in up if port in touched and target["PORT"].get(port, {}).get("admin_status") == "up"]


def _target(before: Tree, text: str) -> Tree:
    try:
        target: Any = jsonpatch.apply_patch(copy.deepcopy(before), json.loads(text))
    except (ValueError, jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as err:
        raise _failed(str(err)) from None
    if empty := [table for table, entries in target.items() if not entries]:
        raise _failed(
            "localhost: given patch is not valid because it will result in empty tables which is not allowed in"
            f" ConfigDb. Table: {', '.join(empty)}"
        )
    return target


def _validate(before: Tree, target: Tree) -> None:
    for table in GUARDED:
        if before.get(table) != target.get(table):
            raise _failed(f"Modification of {table} table is illegal- validating function returned False")
    try:
        yang.refuse(target)
    except Refused as err:
        raise _failed(str(err)) from None


def _failed(reason: str) -> Refused:
    return Refused(f"Failed to apply patch due to: {reason}\n{USAGE}\nError: {reason}")


def _keys(before: Tree, target: Tree) -> list[tuple[str, str]]:
    """Return tables and keys whose entries differ."""
    tables = {**before, **target}
    found = [(table, key) for table in tables for key in {**before.get(table, {}), **target.get(table, {})}]
    return [(table, key) for table, key in found if before.get(table, {}).get(key) != target.get(table, {}).get(key)]
