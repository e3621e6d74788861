# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What SONiC's YANG models take in the tables of a lossless class, as data, what they refuse, and who asks them.

From sonic-buildimage, src/sonic-yang-models: a line is a table, what its keys are, a field and what its values are.
`<...>` stands for a kind: a range of integers, a pattern, names, or a reference to the keys of another table. Other
tables are taken as they are. Texts begin as libyang's do; their ends are modelled.

`config apply-patch`: the generic config updater takes a JSON patch of ConfigDB, or refuses it as a whole. Changes of
some tables need their port down (patch_sorter.py, RequiredValueIdentifier). The updater takes each such port that is up
down, makes the changes, and brings it up again: the state's `ports` count that.

Some tables are refused on hardware that gcu_field_operation_validators.conf.json does not list; this switch is not in
it. Branches 202405, 202411 and 202505 list PFC_WD, BUFFER_POOL, BUFFER_PROFILE and WRED_PROFILE. For listed hardware
too, they take no more of the last one than `replace` of three green thresholds. Branch 202511 has no rule for
WRED_PROFILE and none for a whole entry of the other two.
"""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import jsonpatch
import jsonpointer

from lab.emulators.fabric.releases import older
from lab.emulators.fabric.sonic import configdb
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.emulators.fabric.data_model import Tree
    from lab.emulators.fabric.switch import State

MODELS = """
DSCP_TO_TC_MAP <name> <int:0-63> <int:0-15>
TC_TO_QUEUE_MAP <name> <int:0-15> <int:0-63>
TC_TO_PRIORITY_GROUP_MAP <name> <int:0-15> <int:0-7>
MAP_PFC_PRIORITY_TO_QUEUE <name> <int:0-7> <int:0-7>
PFC_PRIORITY_TO_PRIORITY_GROUP_MAP <name> <int:0-7> <int:0-7>
SCHEDULER <text:.+> type <one:DWRR|WRR|STRICT>
SCHEDULER <text:.+> weight <int:1-100>
SCHEDULER <text:.+> priority <int:0-9>
SCHEDULER <text:.+> meter_type <one:packets|bytes>
SCHEDULER <text:.+> <text:cir|pir|cbs|pbs> <int:0-18446744073709551615>
WRED_PROFILE <name> <text:(green|yellow|red)_(min|max)_threshold> <int:0-18446744073709551615>
WRED_PROFILE <name> <text:(green|yellow|red)_drop_probability> <int:0-100>
WRED_PROFILE <name> <text:wred_(green|yellow|red)_enable> <one:true|false>
WRED_PROFILE <name> ecn <text:ecn_(none|all|green(_yellow|_red)?|yellow(_red)?|red)>
QUEUE <port|queue> scheduler <ref:SCHEDULER>
QUEUE <port|queue> wred_profile <ref:WRED_PROFILE>
PORT_QOS_MAP <port> dscp_to_tc_map <ref:DSCP_TO_TC_MAP>
PORT_QOS_MAP <port> dot1p_to_tc_map <ref:DOT1P_TO_TC_MAP>
PORT_QOS_MAP <port> tc_to_queue_map <ref:TC_TO_QUEUE_MAP>
PORT_QOS_MAP <port> tc_to_pg_map <ref:TC_TO_PRIORITY_GROUP_MAP>
PORT_QOS_MAP <port> tc_to_dscp_map <ref:TC_TO_DSCP_MAP>
PORT_QOS_MAP <port> pfc_to_queue_map <ref:MAP_PFC_PRIORITY_TO_QUEUE>
PORT_QOS_MAP <port> pfc_to_pg_map <ref:PFC_PRIORITY_TO_PRIORITY_GROUP_MAP>
PORT_QOS_MAP <port> scheduler <ref:SCHEDULER>
PORT_QOS_MAP <port> <one:pfc_enable|pfcwd_sw_enable> <text:([0-7](,[0-7])*)?>
PFC_WD <port> action <one:drop|forward|alert>
PFC_WD <port> detection_time <int:100-5000>
PFC_WD <port> restoration_time <int:100-60000>
PFC_WD <port> pfc_stat_history <one:enable|disable>
PFC_WD <text:GLOBAL> POLL_INTERVAL <int:100-1000>
PFC_WD <text:GLOBAL> BIG_RED_SWITCH <one:enable|disable>
PORT <text:Ethernet[0-9]+> mtu <int:68-9216>
PORT <text:Ethernet[0-9]+> admin_status <one:up|down>
PORT <text:Ethernet[0-9]+> <one:alias|description|index|lanes|speed|fec|autoneg|tpid|pfc_asym|role> <text:.*>
"""


def refuse(config: Tree) -> None:
    """Raise Refused for the first thing in a configuration that the models don't take."""
    for table, key, field, value in _fields(config):
        rules = [words for words in _MODELS if words[0] == table]
        if not rules:
            continue
        known = [words for words in rules if _fits(words[1], key, config) and _fits(words[2], field, config)]
        if not known:
            raise Refused(f'Data Loading Failed:Unexpected data "{field}" of {table}|{key} found.')
        if not any(_fits(words[3], value, config) for words in known):
            raise Refused(f'Data Loading Failed:Invalid value "{value}" of {table}|{key} {field}.')
    for table, key, sentence in _musts(config):
        raise Refused(f"Data Loading Failed:{table}|{key}: {sentence}")


_MODELS = [line.split(" ") for line in MODELS.strip().splitlines()]


def _fields(config: Tree) -> Iterator[tuple[str, str, str, str]]:
    for table, entries in config.items():
        for key, fields in entries.items():
            for field, value in fields.items():
                yield table, key, field, value


def _fits(pattern: str, word: str, config: Tree) -> bool:
    if not pattern.startswith("<"):
        return pattern == word
    kind, _, rest = pattern[1:-1].partition(":")
    if kind.startswith("port"):
        port, _, queue = word.partition("|")
        return port in config["PORT"] and bool(re.fullmatch(r"\d+(-\d+)?", queue)) is (kind == "port|queue")
    if kind == "name":
        return bool(re.fullmatch(r"[A-Za-z0-9][-A-Za-z0-9_.]{0,31}", word))
    if kind == "ref":
        return word in config.get(rest, {})
    if kind == "int":
        low, high = map(int, rest.split("-"))
        return isinstance(word, str) and word.isdigit() and low <= int(word) <= high
    return isinstance(word, str) and bool(re.fullmatch(rest, word))


def _musts(config: Tree) -> Iterator[tuple[str, str, str]]:
    for key, fields in config.get("WRED_PROFILE", {}).items():
        for color in ("green", "yellow", "red"):
            low, high = (int(fields.get(f"{color}_{end}_threshold", 0)) for end in ("min", "max"))
            if high < low:
                sentence = f"{color.title()} max threshold must be greater than or equal to min threshold"
                yield "WRED_PROFILE", key, sentence
    watchdog = config.get("PFC_WD", {})
    poll = int(watchdog.get("GLOBAL", {}).get("POLL_INTERVAL", 0))
    for key, fields in watchdog.items():
        for field in ("detection_time", "restoration_time"):
            if int(fields.get(field, poll)) < poll:
                yield "PFC_WD", key, f"{field} must be greater than or equal to POLL_INTERVAL"


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
GUARDED = {"PFC_WD": "", "BUFFER_POOL": "202511", "BUFFER_PROFILE": "202511", "WRED_PROFILE": "202511"}
"""Tables that the updater refuses, each until a branch; PFC_WD in all."""


def apply_patch(state: State, text: str, *, dry_run: bool = False) -> str:
    """Do the patch, and return its output. Raises Refused; nothing is changed then."""
    before = state["running"]
    target = _target(before, text)
    _validate(state, target)
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


def _validate(state: State, target: Tree) -> None:
    before = state["running"]
    for table, free in GUARDED.items():
        guarded = not free or older(state, configdb.RELEASE, free)
        if guarded and before.get(table) != target.get(table):
            raise _failed(f"Modification of {table} table is illegal- validating function returned False")
    try:
        refuse(target)
    except Refused as err:
        raise _failed(str(err)) from None


def _failed(reason: str) -> Refused:
    return Refused(f"Failed to apply patch due to: {reason}\n{USAGE}\nError: {reason}")


def _keys(before: Tree, target: Tree) -> list[tuple[str, str]]:
    """Return tables and keys whose entries differ."""
    tables = {**before, **target}
    found = [(table, key) for table in tables for key in {**before.get(table, {}), **target.get(table, {})}]
    return [(table, key) for table, key in found if before.get(table, {}).get(key) != target.get(table, {}).get(key)]
