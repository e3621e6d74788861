# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the shell: `config`, the database tools, systemctl. Each gets its words, and may refuse.

Transient units are as `systemd-run --on-active` makes them: a timer, and the service that it starts. The timer is gone
when its service ran (systemd-run sets RemainAfterElapse=no). A service that failed stays listed.
"""

from __future__ import annotations

import copy
import json
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from lab.emulators.fabric.releases import older
from lab.emulators.fabric.sonic import configdb, yang
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from lab.emulators.fabric.switch import State


def taken(form: str, words: list[str]) -> list[str] | None:
    """Return the words that stand for `*` (one) and a last `**` (all others) of a form; None if it does not fit."""
    pattern = form.split()
    rest: list[str] = []
    if pattern[-1] == "**":
        pattern, words, rest = pattern[:-1], words[: len(pattern) - 1], words[len(pattern) - 1 :]
    if len(pattern) != len(words) or any(want not in ("*", word) for want, word in zip(pattern, words, strict=True)):
        return None
    return [word for want, word in zip(pattern, words, strict=True) if want == "*"] + rest


HISTORY = "202511"
"""The branch of sonic-utilities whose `pfcwd start` writes pfc_stat_history: pfcwd/main.py."""
NOT_ROOT = "Root privileges are required for this operation"
PATCH, SAVED = "apply-patch", "/etc/sonic/config_db.json"


def config(state: State, words: list[str], *, root: bool) -> str:
    """Do `config WORDS`."""
    if not root:
        raise Refused(NOT_ROOT)
    if got := taken("apply-patch **", words):
        files = [word for word in got if not word.startswith("-")]
        return yang.apply_patch(state, read(state, files[0]), dry_run="-d" in got)
    if got := taken("load -y *", words):
        configdb.merge(state, _loaded(state, got[0]))
        return f"Running command: /usr/local/bin/sonic-cfggen -j {got[0]} --write-to-db"
    if taken("save -y", words) is not None:
        state["saved"] = copy.deepcopy(state["running"])
        return f"Running command: /usr/local/bin/sonic-cfggen -d --print-data > {SAVED}"
    if got := taken("pfcwd * **", words):
        return _pfcwd(state, got[0], got[1:])
    if taken("qos reload", words) is not None:
        configdb.azure(state["running"])
        return "Buffer calculation model updated, restarting swss is required to take effect"
    raise Refused(f'Usage: config [OPTIONS] COMMAND [ARGS]...\n\nError: No such command "{" ".join(words)}".')


def _pfcwd(state: State, verb: str, words: list[str]) -> str:
    """Do `config pfcwd`: it writes to redis without the YANG models."""
    table = state["running"].get("PFC_WD", {})
    if verb == "interval":
        _number(words[0], 100, 1000, "POLL_INTERVAL")
        for fields in table.values():
            for name in ("detection_time", "restoration_time"):
                if int(fields.get(name, words[0])) < int(words[0]):
                    raise Refused(
                        f"unable to use polling interval = {words[0]}ms, value is bigger than one of the configured"
                        f" {name.replace('_', ' ')} values, please choose a smaller polling_interval"
                    )
        configdb.merge(state, {"PFC_WD": {"GLOBAL": {"POLL_INTERVAL": words[0]}}})
        return ""
    if verb == "stop":
        configdb.delete(state, [f"PFC_WD|{port}" for port in words])
        return ""
    if verb == "start":
        return _start(state, words)
    raise Refused(f'Usage: config pfcwd [OPTIONS] COMMAND [ARGS]...\n\nError: No such command "{verb}".')


def _start(state: State, words: list[str]) -> str:
    options = dict(zip(words[:4:2], words[1:4:2], strict=True))
    *ports, detection = words[4:]
    action, restoration = options["--action"], options["--restoration-time"]
    _number(detection, 100, 5000, "DETECTION_TIME")
    _number(restoration, 100, 60000, "--restoration-time")
    if action not in ("drop", "forward", "alert"):
        raise Refused(f'Usage: config pfcwd start [OPTIONS]\n\nError: Invalid value for "--action": {action}.')
    if strange := [port for port in ports if port not in state["running"]["PORT"]]:
        raise Refused("\n".join(["Failed to run command, invalid options:", *strange]))
    skipped = []
    for port in ports:
        if "pfc_enable" not in state["running"].get("PORT_QOS_MAP", {}).get(port, {}):
            skipped.append(f"SKIPPED: PFC is not enabled on port: {port}")
            continue
        fields = {"action": action, "detection_time": detection, "restoration_time": restoration}
        if not older(state, configdb.RELEASE, HISTORY):
            known = state["running"].get("PFC_WD", {}).get(port, {})
            fields["pfc_stat_history"] = known.get("pfc_stat_history", "disable")
        configdb.merge(state, {"PFC_WD": {port: fields}})
    return "\n".join(skipped)


def _number(text: str, low: int, high: int, name: str) -> None:
    if not text.isdigit() or not low <= int(text) <= high:
        raise Refused(
            f"Usage: config pfcwd [OPTIONS]\n\nError: Invalid value for {name}: {text} is not in {low}<=x<={high}."
        )


def cfggen(state: State, words: list[str], *, root: bool) -> str:
    """Do `sonic-cfggen`."""
    if taken("-d --print-data", words) is not None:
        return configdb.printed(state["running"])
    if got := taken("-j * --print-data", words):
        return configdb.printed(_loaded(state, got[0]))
    if root and (got := taken("-j * --write-to-db", words)):
        configdb.merge(state, _loaded(state, got[0]))
        return ""
    raise Refused(f"usage: sonic-cfggen [-h]\nsonic-cfggen: error: unrecognized arguments: {' '.join(words)}")


def _loaded(state: State, path: str) -> Any:
    try:
        return json.loads(read(state, path))
    except ValueError as err:
        raise Refused(f"Traceback (most recent call last):\njson.decoder.JSONDecodeError: {err}") from None


def db_cli(state: State, words: list[str], **_: bool) -> str:
    """Do `sonic-db-cli CONFIG_DB`: no check of any kind."""
    if got := taken("CONFIG_DB HGETALL *", words):
        return str(configdb.entry(state, got[0]) or {})
    if got := taken("CONFIG_DB HGET * *", words):
        return (configdb.entry(state, got[0]) or {}).get(got[1], "")
    if got := taken("CONFIG_DB DEL **", words):
        return str(configdb.delete(state, got))
    if got := taken("CONFIG_DB HDEL * **", words):
        found = configdb.entry(state, got[0]) or {}
        gone = [field for field in got[1:] if found.pop(field, None) is not None]
        if gone and not found:
            configdb.delete(state, got[:1])
        return str(len(gone))
    raise Refused(f"Invalid command: {' '.join(words)}")


def db_dump(state: State, words: list[str], **_: bool) -> str:
    """Do `sonic-db-dump -n DATABASE -k PATTERN -y`."""
    databases = {
        "ASIC_DB": configdb.asic(state),
        "COUNTERS_DB": {"COUNTERS_PORT_NAME_MAP": configdb.identifiers(state)},
    }
    got = taken("-n * -k * -y", words)
    if not got or got[0] not in databases:
        raise Refused("usage: sonic-db-dump [-h] -n DBNAME [-k KEY] [-y]")
    chosen = {key: value for key, value in databases[got[0]].items() if fnmatchcase(key, got[1])}
    return json.dumps(
        {k: {"expireat": 0.0, "ttl": -0.001, "type": "hash", "value": v} for k, v in chosen.items()}, indent=2
    )


def systemctl(state: State, words: list[str], *, root: bool) -> str:
    """Do `systemctl`, but for `start`, which runs a script of the shell."""
    if got := taken("list-units --plain --no-legend --no-pager *", words):
        return listed(state, got[0])
    if root and (got := taken("stop *", words)):
        stop(state, got[0])
    elif root and (got := taken("reset-failed *", words)):
        reset(state, got[0])
    else:
        raise Refused(f"Failed to {words[0] if words else 'list'}: Interactive authentication required.")
    return ""


def read(state: State, path: str) -> str:
    """Return the text of a file. Raises Refused."""
    if path == "/etc/sonic/sonic_version.yml":
        return configdb.version(state)
    if path == SAVED:
        return configdb.printed(state["saved"])
    if path not in state["files"]:
        raise Refused(f"cat: {path}: No such file or directory")
    return state["files"][path]


def cat(state: State, words: list[str], **_: bool) -> str:
    """Do `cat FILE`."""
    return read(state, words[0]).rstrip("\n")


def echo(state: State, words: list[str], *, root: bool) -> str:
    """Do `echo`."""
    del state, root
    return " ".join(words)


def nothing(_: State, _words: list[str], **_root: bool) -> str:
    """Do what shows nothing here: folders are made with their files, and no program outlives its line."""
    return ""


def remove(state: State, words: list[str], **_: bool) -> str:
    """Do `rm -rf`, also with patterns."""
    for pattern in (word for word in words if not word.startswith("-")):
        for path in [path for path in state["files"] if fnmatchcase(path, pattern) or path.startswith(f"{pattern}/")]:
            del state["files"][path]
    return ""


def start_timer(state: State, words: list[str], now: float) -> str:
    """Do `systemd-run` with these words."""
    options = dict(word.removeprefix("--").split("=", 1) for word in words if re.match("--[a-z-]+=", word))
    command = [word for word in words if not word.startswith("--")]
    if not command or not options.get("on-active", "").isdigit():
        raise Refused("the lab runs systemd-run --unit=NAME --on-active=SECONDS COMMAND only")
    name = options["unit"]
    if name in state["units"]:
        raise Refused(f"Failed to start transient timer unit: Unit {name}.timer was already loaded.")
    state["units"][name] = {"deadline": now + int(options["on-active"]), "command": command, "failed": False}
    return f"Running timer as unit: {name}.timer\nWill run service as unit: {name}.service"


def stop(state: State, unit: str) -> None:
    """Do `systemctl stop NAME.timer`."""
    name = unit.removesuffix(".timer")
    if name not in state["units"] or state["units"][name]["failed"]:
        raise Refused(f"Failed to stop {unit}: Unit {unit} not loaded.")
    del state["units"][name]


def command(state: State, unit: str) -> list[str]:
    """Return what `systemctl start NAME.service` runs."""
    name = unit.removesuffix(".service")
    if name not in state["units"]:
        raise Refused(f"Failed to start {unit}: Unit {unit} not found.")
    return state["units"][name]["command"]


def reset(state: State, unit: str) -> None:
    """Do `systemctl reset-failed NAME.service`."""
    name = unit.removesuffix(".service")
    if not state["units"].get(name, {}).get("failed"):
        raise Refused(f"Failed to reset failed state of unit {unit}: Unit {unit} not loaded.")
    del state["units"][name]


def due(state: State, now: float) -> str:
    """Return the name of a timer that has run out, or nothing."""
    return next((n for n, it in state["units"].items() if not it["failed"] and now >= it["deadline"]), "")


def listed(state: State, pattern: str) -> str:
    """Return `systemctl list-units --plain --no-legend`: active units, and failed ones."""
    lines = []
    for name, it in sorted(state["units"].items()):
        kind, rest = (".service", "failed failed") if it["failed"] else (".timer", "active waiting")
        if fnmatchcase(name + kind, pattern):
            lines.append(f"{name}{kind} loaded {rest} {' '.join(it['command'])}")
    return "\n".join(lines)
