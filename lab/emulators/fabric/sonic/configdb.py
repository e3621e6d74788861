# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""ConfigDB of a new switch, and redis' view of it: hashes `TABLE|KEY` of strings. The state of a switch:

`running`, `saved`  ConfigDB, and /etc/sonic/config_db.json.
`files`             path -> text of files that users write.
`units`             transient units of systemd.
`ports`             name -> {flaps}: how often the port went down and up again.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.releases import release

if TYPE_CHECKING:
    from lab.emulators.fabric.data_model import Tree
    from lab.emulators.fabric.switch import State

RELEASE = "202511.1-8d21b6f0c"
"""What a switch runs unless its state says otherwise: the branch, and the build."""
LANES = 4
"""How far the numbers of two neighbouring ports are apart."""
LOSSLESS = (3, 4)
"""Priorities of the platform's template, qos_config.j2."""


def factory(name: str, platform: str, ports: int, address: str) -> State:
    """Return the state of a switch as the site's staging left it: reachable, ports up, without any QoS."""
    names = [f"Ethernet{number * LANES}" for number in range(ports)]
    running: Tree = {
        "DEVICE_METADATA": {"localhost": {"hostname": name, "hwsku": f"Lab-{platform}", "type": "LeafRouter"}},
        "MGMT_INTERFACE": {f"eth0|{address}/24": {}},
        "CABLE_LENGTH": {"AZURE": dict.fromkeys(names, "40m")},
        "PORT": {
            port: {
                "admin_status": "up",
                "alias": f"Eth{index + 1}",
                "index": str(index + 1),
                "lanes": ",".join(str(index * LANES + lane) for lane in range(LANES)),
                "mtu": "9100",
                "speed": "400000",
            }
            for index, port in enumerate(names)
        },
    }
    return {
        "running": running,
        "saved": copy.deepcopy(running),
        "files": {},
        "units": {},
        "ports": {port: {"flaps": 0} for port in names},
        "neighbors": {},
        "users": ["admin", "noc"],
    }


def azure(config: Tree) -> None:
    """Add what `config qos reload` renders from the platform's template: two lossless priorities, maps AZURE."""
    numbers = [str(number) for number in range(8)]
    config["DSCP_TO_TC_MAP"] = {"AZURE": {str(dscp): str({3: 3, 4: 4}.get(dscp, 1)) for dscp in range(64)}}
    for table in ("TC_TO_QUEUE_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"):
        config[table] = {"AZURE": {number: number for number in numbers}}
    config["TC_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {n: n if int(n) in LOSSLESS else "0" for n in numbers}}
    mellanox = config["DEVICE_METADATA"]["localhost"]["hwsku"] == "Lab-spectrum"
    if mellanox:  # qos_config.j2: pfc_to_pg_map_supported_asics
        config["PFC_PRIORITY_TO_PRIORITY_GROUP_MAP"] = {"AZURE": {"3": "3", "4": "4"}}
    config["SCHEDULER"] = {f"scheduler.{n}": {"type": "DWRR", "weight": str(14 + n)} for n in range(2)}
    thresholds = {f"{color}_{end}_threshold": value for color in COLORS for end, value in WRED.items()}
    drops = {f"{color}_drop_probability": "5" for color in COLORS}
    enables = {f"wred_{color}_enable": "true" for color in COLORS}
    config["WRED_PROFILE"] = {"AZURE_LOSSLESS": {"ecn": "ecn_all", **thresholds, **drops, **enables}}
    maps = {
        "dscp_to_tc_map": "AZURE",
        "pfc_enable": "3,4",
        "pfc_to_queue_map": "AZURE",
        **({"pfc_to_pg_map": "AZURE"} if mellanox else {}),
        "pfcwd_sw_enable": "3,4",
        "tc_to_pg_map": "AZURE",
        "tc_to_queue_map": "AZURE",
    }
    lossless = {"scheduler": "scheduler.1", "wred_profile": "AZURE_LOSSLESS"}
    queues = {"0-2": {"scheduler": "scheduler.0"}, "3-4": lossless, "5-6": {"scheduler": "scheduler.0"}}
    config["PORT_QOS_MAP"] = {port: dict(maps) for port in config["PORT"]}
    config["QUEUE"] = {f"{port}|{index}": dict(fields) for port in config["PORT"] for index, fields in queues.items()}


COLORS = ("green", "yellow", "red")
WRED = {"min": "1048576", "max": "2097152"}


def version(state: State) -> str:
    """Return /etc/sonic/sonic_version.yml, some of its lines, as sonic-buildimage makes it."""
    asic = {"xgs": "broadcom", "spectrum": "mellanox"}
    platform = state["running"]["DEVICE_METADATA"]["localhost"]["hwsku"].removeprefix("Lab-")
    lines = [f"build_version: '{release(state, RELEASE)}'", f"asic_type: {asic.get(platform, platform)}"]
    return "\n".join(["---", *lines, "sonic_os_version: 12", ""])


def pruned(config: Tree) -> Tree:
    """Return the configuration without tables that have no entries: redis has none."""
    return {table: entries for table, entries in config.items() if entries}


def merge(state: State, config: Tree) -> None:
    """Write values over what runs, without any check and without removing anything."""
    for table, entries in config.items():
        for key, fields in entries.items():
            state["running"].setdefault(table, {}).setdefault(key, {}).update(fields)


def printed(config: Tree) -> str:
    """Return what `--print-data` prints."""
    return json.dumps(config, indent=4, sort_keys=True)


def entry(state: State, key: str) -> dict[str, str] | None:
    """Return the hash of a redis key, `TABLE|KEY`, or None."""
    table, _, name = key.partition("|")
    return state["running"].get(table, {}).get(name)


def delete(state: State, keys: list[str]) -> int:
    """Do `DEL`; return how many hashes there were."""
    found = [key for key in keys if entry(state, key) is not None]
    for table, name in (key.split("|", 1) for key in found):
        del state["running"][table][name]
    state["running"] = pruned(state["running"])
    return len(found)


def asic(state: State) -> dict[str, Any]:
    """Return the ports of ASIC_DB: orchagent writes the priorities that PFC pauses as a mask of bits."""
    maps = state["running"].get("PORT_QOS_MAP", {})
    found: dict[str, Any] = {}
    for port, identifier in identifiers(state).items():
        priorities = [int(number) for number in maps.get(port, {}).get("pfc_enable", "").split(",") if number]
        value = {
            "SAI_PORT_ATTR_ADMIN_STATE": str(state["running"]["PORT"][port].get("admin_status") == "up").lower(),
            "SAI_PORT_ATTR_MTU": str(int(state["running"]["PORT"][port].get("mtu", "9100")) + 22),
            "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": str(sum(1 << number for number in priorities)),
        }
        found[f"ASIC_STATE:SAI_OBJECT_TYPE_PORT:{identifier}"] = value
    return found


def forwarding(state: State) -> dict[str, Any]:
    """Return what packets meet: links, MTUs, maps of DSCP, and the classes that are lossless or marked."""
    running, shown = state["running"], {}
    marks: dict[str, list[int]] = {}
    for key, fields in running.get("QUEUE", {}).items():
        port, _, queues = key.partition("|")
        first, _, last = queues.partition("-")
        if "wred_profile" in fields:
            marks.setdefault(port, []).extend(range(int(first), int(last or first) + 1))
    for port in state["ports"]:
        about, maps = running["PORT"][port], running.get("PORT_QOS_MAP", {}).get(port, {})
        shown[port] = {
            "up": about.get("admin_status") == "up",
            "mtu": int(about.get("mtu", "9100")),
            "trust": "dscp_to_tc_map" in maps,
            "dscp": running.get("DSCP_TO_TC_MAP", {}).get(maps.get("dscp_to_tc_map", ""), {}),
            "lossless": [int(number) for number in maps.get("pfc_enable", "").split(",") if number],
            "marks": marks.get(port, []),
        }
    return {"ports": shown, "neighbors": state["neighbors"]}


def identifiers(state: State) -> dict[str, str]:
    """Return COUNTERS_PORT_NAME_MAP."""
    return {port: f"oid:0x{0x1000000000000 + index + 2:x}" for index, port in enumerate(state["ports"])}
