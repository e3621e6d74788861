# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A configuration as NVUE keeps it: nested objects, of the paths of NVUE's object model that a lossless class needs.

From the NVUE reference; `<...>` stands for a value, `<ports>` and `<list:A-B>` name several keys at once, `swp1-4,6` or
`3,4`. A path that ends with a key makes an empty object. NVUE writes some defaults down, and prints once what ports
share. Texts of refusals are modelled; that they begin with `Error:` is documented.
"""

from __future__ import annotations

import itertools
import re
from typing import Any

from lab.emulators.fabric.cli.tree import natural
from lab.emulators.fabric.data_model import Tree, leaves
from lab.emulators.fabric.switch import Refused

PATHS = """
system hostname <word>
system cli pagination state <one:enabled|disabled>
system config auto-save state <one:enabled|disabled>
system forwarding ecmp-hash <word> <one:on|off|enabled|disabled>
system aaa user <word>
interface <ports> description <word>
interface <ports> bond member <ports>
interface <ports> type <word>
interface <ports> link mtu <int:552-9216>
interface <ports> link state <one:up|down>
interface <ports> ip address <word>
interface <ports> qos <one:pfc|mapping|congestion-control|link-pause> profile <word>
interface <ports> qos <one:egress-scheduler|egress-shaper|remark> profile <word>
interface <ports> qos pfc-watchdog
interface <ports> qos pfc-watchdog state <one:enable|disable|enabled|disabled>
qos roce
qos roce enable <one:on|off>
qos roce state <one:enabled|disabled>
qos roce mode <one:lossless|lossy|lossless-single-ipool>
qos roce cable-length <int:1-100000>
qos mapping <word> trust <one:l2|l3|port|both>
qos mapping <word> dscp <list:0-63> switch-priority <int:0-7>
qos mapping <word> pcp <list:0-7> switch-priority <int:0-7>
qos egress-queue-mapping default-global switch-priority <list:0-7> traffic-class <int:0-7>
qos egress-scheduler <word> traffic-class <list:0-7> mode <one:dwrr|strict>
qos egress-scheduler <word> traffic-class <list:0-7> bw-percent <int:1-100>
qos congestion-control <word> traffic-class <list:0-7> ecn <one:enable|disable|enabled|disabled>
qos congestion-control <word> traffic-class <list:0-7> red <one:enable|disable|enabled|disabled>
qos congestion-control <word> traffic-class <list:0-7> min-threshold <int:0-4294967295>
qos congestion-control <word> traffic-class <list:0-7> max-threshold <int:0-4294967295>
qos congestion-control <word> traffic-class <list:0-7> probability <int:1-100>
qos pfc <word> switch-priority <list:0-7>
qos pfc <word> tx <one:enable|disable>
qos pfc <word> rx <one:enable|disable>
qos pfc <word> cable-length <int:1-100000>
qos pfc-watchdog polling-interval <int:1-100000>
qos pfc-watchdog robustness <int:1-1000>
qos traffic-pool <word> memory-percent <int:1-100>
qos traffic-pool <word> switch-priority <list:0-7>
"""
_LIST = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")
_PORT = re.compile(r"(?:(?P<stem>[a-z]+(?:\d+s)?))?(?P<low>\d+)(?:-(?P<high>\d+))?")


def expand(text: str) -> list[str]:
    """Return the interfaces that a text names: `swp1-2,5` is swp1, swp2, swp5."""
    found: list[str] = []
    stem = ""
    for part in text.split(","):
        match = _PORT.fullmatch(part)
        if not match:
            found.append(part)
            continue
        stem = match["stem"] or stem
        found += [f"{stem}{number}" for number in range(int(match["low"]), int(match["high"] or match["low"]) + 1)]
    return found


def parse(words: list[str]) -> list[tuple[list[str], str | int | None]]:
    """Return the paths that the words of `nv set` name, each with its value; None for an empty object."""
    for line in PATHS.split("\n"):
        pattern: list[str] = [*line.split()]
        if len(pattern) == len(words) and all(_fits(*pair) for pair in zip(pattern, words, strict=True)):
            return _paths(pattern, words)
    raise Refused(f"Error: Invalid Command: set {' '.join(words)}")


def _fits(pattern: str, word: str) -> bool:
    kind, _, rest = pattern.strip("<>").partition(":")
    if not pattern.startswith("<"):
        return pattern == word
    if kind == "one":
        return word in rest.split("|")
    return kind != "list" or bool(_LIST.fullmatch(word))


def _paths(pattern: list[str], words: list[str]) -> list[tuple[list[str], str | int | None]]:
    paths: list[list[str]] = [[]]
    for kind, word in zip(pattern, words, strict=True):
        keys = expand(word) if kind == "<ports>" else _numbers(kind, word) if kind.startswith("<list") else [word]
        paths = [[*path, key] for path in paths for key in keys]
    last = pattern[-1]
    if not last.startswith("<") or last.startswith(("<list", "<ports")) or pattern[-2] in ("user", "address"):
        return [(path, None) for path in paths]
    return [(path[:-1], _value(last, words)) for path in paths]


def _value(kind: str, words: list[str]) -> str | int:
    if not kind.startswith("<int"):
        return words[-1]
    low, high = (int(bound) for bound in kind.strip("<>").partition(":")[2].split("-"))
    if not words[-1].isdigit() or not low <= int(words[-1]) <= high:
        raise Refused(f"Error: '{words[-1]}' is not an integer from {low} to {high} at {'.'.join(words[:-1])}")
    return int(words[-1])


def _numbers(kind: str, word: str) -> list[str]:
    high = int(kind.strip("<>").rpartition("-")[2])
    bounds = [[int(number) for number in part.split("-")] for part in word.split(",")]
    found = [number for bound in bounds for number in range(bound[0], bound[-1] + 1)]
    if max(found) > high:
        raise Refused(f"Error: '{max(found)}' is not an integer from 0 to {high}")
    return [str(number) for number in found]


RENAMED = 15
"""From Cumulus Linux 5.15 on, `enable on` is `state enabled` (NVUE reference, `nv set qos roce state`)."""


def set_(tree: Tree, words: list[str], minor: int) -> None:
    """Do `nv set WORDS`."""
    for path, value in parse(words):
        node = tree
        for key in path[:-1]:
            node = node.setdefault(key, {})
        if value is None:
            node.setdefault(path[-1], {})
        else:
            node[path[-1]] = _stored(path, value)
        _complete(tree, path, minor)


def unset(tree: Tree, words: list[str]) -> None:
    """Do `nv unset WORDS`: the object or value goes, and objects that are empty then. A missing one is no error."""
    for path in _keys(words):
        _drop(tree, path)


def commands(tree: Tree) -> list[str]:
    """Return `nv config show -o commands`."""
    found = [f"nv set {' '.join(path)}{'' if value == {} else f' {value}'}" for path, value in leaves(collapsed(tree))]
    return sorted(found, key=natural)


def collapsed(tree: Tree) -> Tree:
    """Return the configuration as NVUE prints it: what several ports share stands once, under a range of ports."""
    shared: dict[tuple[tuple[str, ...], str], tuple[Any, list[str]]] = {}
    for port, node in tree.get("interface", {}).items():
        for path, value in leaves(node) or [((), {})]:
            shared.setdefault((path, repr(value)), (value, []))[1].append(port)
    ports: Tree = {}
    for (path, _), (value, names) in shared.items():
        node = ports.setdefault(_range(names), {})
        for key in path[:-1]:
            node = node.setdefault(key, {})
        if path:
            node[path[-1]] = value
    return {**tree, "interface": ports} if ports else tree


def _stored(path: list[str], value: str | int) -> str | int:
    """A watchdog takes `enable` and shows `enabled`."""
    if path[-2:] == ["pfc-watchdog", "state"] and str(value) in ("enable", "disable"):
        return f"{value}d"
    return value


def _complete(tree: Tree, path: list[str], minor: int) -> None:
    """Write down what switches a feature on, where only a part of it was set."""
    if path[:2] == ["qos", "roce"]:
        roce = tree["qos"]["roce"]
        if not {"enable", "state"} & roce.keys():
            roce.update({"state": "enabled"} if minor >= RENAMED else {"enable": "on"})
        roce.setdefault("mode", "lossless")
    if path[0] == "interface" and path[2:3] == ["bond"]:
        tree["interface"][path[1]].setdefault("type", "bond")
    if path[0] == "interface" and path[2:4] == ["qos", "pfc-watchdog"]:
        tree["interface"][path[1]]["qos"]["pfc-watchdog"].setdefault("state", "enabled")


def _keys(words: list[str]) -> list[list[str]]:
    named = [expand(word) if at == 1 and words[0] == "interface" else [word] for at, word in enumerate(words)]
    return [list(path) for path in itertools.product(*named)]


def _drop(tree: Tree, path: list[str]) -> None:
    found = tree.get(path[0])
    if len(path) == 1 or not isinstance(found, dict):
        if len(path) == 1 or (len(path) == 2 and str(found) == path[1]):
            tree.pop(path[0], None)
        return
    _drop(found, path[1:])
    if not found and not re.match(r"swp\d", path[0]):
        tree.pop(path[0])


def _range(names: list[str]) -> str:
    """Return `swp1-4,6` for these ports."""
    runs: list[list[str]] = []
    for name in sorted(names, key=natural):
        if runs and _next(runs[-1][-1]) == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    parts, stem = [], ""
    for run in runs:
        part = run[0] if len(run) == 1 else f"{run[0]}-{_number(run[-1])}"
        same = stem == "swp" and re.fullmatch(r"swp\d+(-\d+)?", part)
        parts.append(part.removeprefix("swp") if same else part)
        stem = part.rstrip("0123456789-")
    return ",".join(parts)


def _number(name: str) -> str:
    return name.removeprefix(name.rstrip("0123456789"))


def _next(name: str) -> str:
    number = _number(name)
    return f"{name.removesuffix(number)}{int(number) + 1}" if number else ""
