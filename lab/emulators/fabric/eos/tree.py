# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A configuration as a tree: apply a typed line to it, print it as running-config does.

A node is JSON: {"lines": {key: text}, "blocks": {key: node}}. A key is `GROUP.RANK slot`, so that sorting keys
naturally gives EOS's print order; a block's key ends with its header.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

from lab.emulators.fabric.eos.grammar import Match, Refused, expand, match
from lab.emulators.fabric.eos.lines import Line, table

Node = dict[str, Any]
MAP = re.compile(r"(qos map (?:dscp|traffic-class)) (\d+) (to \S+ \d+)")
WATCHDOG_WARNING = (
    "! PFC watchdog polling-interval {have} is greater than half of the smaller of timeout and recovery-time;"
    " using {used}"
)


def empty() -> Node:
    """Return a configuration, or a block, without anything in it."""
    return {"lines": {}, "blocks": {}}


def at(tree: Node, path: list[str]) -> Node:
    """Return the block at a path of keys; made when it doesn't exist yet."""
    for key in path:
        tree = tree["blocks"].setdefault(key, empty())
    return tree


def header(key: str) -> str:
    """Return a block's header, e.g. `interface Ethernet1`."""
    return key.split(" ", 1)[1]


def apply(tree: Node, path: list[str], mode: str, platform: str, text: str) -> tuple[list[str], str]:
    """Apply one line to the block at `path`; return the path and the mode that it leads to.

    Raises Refused with EOS's text when the line is none of this mode's.
    """
    lines = table(mode, platform)
    verb, _, rest = text.strip().partition(" ")
    if verb.lower() in ("no", "default"):
        patterns = {_off(line): index for index, line in enumerate(lines)}
        found = match(patterns, rest)
        _remove(at(tree, path), lines, patterns[found.pattern], found, keep=verb.lower() == "no")
        return path, mode
    patterns = {line.pattern: index for index, line in enumerate(lines)}
    found = match(patterns, text)
    index = patterns[found.pattern]
    line = lines[index]
    if line.opens:
        key = _key(line, index, found.text)
        at(tree, [*path, key])
        return [*path, key], line.opens
    _refuse_crossed(found)
    _store(at(tree, path), line, index, found)
    return path, mode


def _store(node: Node, line: Line, index: int, found: Match) -> None:
    for args, text in _each(line, found):
        key = _key(line, index, line.slot.format(**args))
        node["lines"][key] = text.removesuffix(line.dropped) if line.dropped else text
        if node["lines"][key] == line.hidden:
            del node["lines"][key]


def _remove(node: Node, lines: tuple[Line, ...], index: int, found: Match, *, keep: bool) -> None:
    line = lines[index]
    if line.opens:
        key = _key(line, index, found.text)
        node["blocks"].pop(key, None)
        if "Ethernet" in key:  # A port that the hardware has can only go back to its defaults.
            at(node, [key])
        return
    for args, _ in _each(line, found):
        key = _key(line, index, line.slot.format(**args))
        node["lines"].pop(key, None)
        if keep and line.kept:
            node["lines"][key] = line.kept


def _each(line: Line, found: Match) -> list[tuple[dict[str, str], str]]:
    """Return a line's slots: one, or one for each number that it lists."""
    if not line.each:
        return [(found.args, found.text)]
    listed = found.args[line.each]
    return [
        ({**found.args, line.each: str(number)}, found.text.replace(f" {listed}", f" {number}", 1))
        for number in expand(listed)
    ]


def _key(line: Line, index: int, slot: str) -> str:
    return f"{line.group}.{index} {slot}"


def _off(line: Line) -> str:
    """Return what may follow `no`: by default the keywords, with or without the value."""
    if line.off or line.opens or "<" not in line.pattern:
        return line.off or line.pattern
    head, _, tail = line.pattern.partition("<")
    return f"{head}[<{tail}]"


def _refuse_crossed(found: Match) -> None:
    """EOS takes no marking that starts above the point where it is full."""
    if "max" in found.args and int(found.args["min"]) > int(found.args["max"]):
        raise Refused("% Minimum threshold cannot be greater than maximum threshold")


def warning(tree: Node) -> str:
    """Return what EOS warns of when the watchdog polls too seldom to keep its own times, or nothing."""
    have, used = polling(tree)
    return WATCHDOG_WARNING.format(have=have, used=used) if have and have != used else ""


def polling(tree: Node) -> tuple[str, str]:
    """Return the watchdog's polling interval as configured and as used, in seconds."""
    seconds = {key.split(" ", 1)[1]: text.split()[-1] for key, text in tree["lines"].items() if key.startswith("86.")}
    have = seconds.get("polling-interval", "")
    bounds = [float(seconds[name]) for name in ("timeout", "recovery-time") if name in seconds]
    if not have or not bounds:
        return have, have
    return have, f"{min(float(have), min(bounds) / 2):g}"


def render(tree: Node) -> list[str]:
    """Return the lines of running-config, without its comment header and final `end`."""
    printed: list[str] = []
    group = ""
    for key, item in _sorted(tree):
        block = isinstance(item, dict)
        if printed and (block or key.split(".")[0] != group):
            printed.append("!")
        group = key.split(".")[0]
        printed += [header(key), *_body(item, header(key))] if block else [item]
    return _merge(printed)


def _body(node: Node, title: str) -> list[str]:
    """Return a block's lines, indented; queues that hold nothing don't show."""
    printed: list[str] = []
    for key, item in _sorted(node):
        if not isinstance(item, dict):
            printed += [] if title.startswith("interface") and item == _default_trust(node) else [item]
        elif inner := _body(item, header(key)):
            printed += ["!", header(key), *inner]
    return [f"   {line}" for line in printed]


def _default_trust(node: Node) -> str:
    """Return what a port trusts by itself: DSCP when it routes, CoS when it switches."""
    return "qos trust dscp" if "no switchport" in node["lines"].values() else "qos trust cos"


def _merge(printed: list[str]) -> list[str]:
    """Join the maps that lead to one class: `qos map dscp 24 26 to traffic-class 3`."""
    numbers: dict[tuple[str, str], list[str]] = {}
    merged: list[str | tuple[str, str]] = []
    for line in printed:
        found = MAP.fullmatch(line)
        if found and (found[1], found[3]) not in numbers:
            merged.append((found[1], found[3]))
        if found:
            numbers.setdefault((found[1], found[3]), []).append(found[2])
        else:
            merged.append(line)
    return [line if isinstance(line, str) else f"{line[0]} {' '.join(numbers[line])} {line[1]}" for line in merged]


def _sorted(node: Node) -> list[tuple[str, Any]]:
    return sorted([*node["lines"].items(), *node["blocks"].items()], key=lambda item: natural(item[0]))


def natural(text: str) -> list[tuple[int, str]]:
    """Return a sort key by which Ethernet10 follows Ethernet9."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", text) if part]


def diff(before: Node, after: Node, name: str) -> str:
    """Return `show session-config diffs`: a unified diff, empty when nothing changes."""
    lines = difflib.unified_diff(
        render(before), render(after), "system:/running-config", f"session:/{name}-session-config", lineterm=""
    )
    return "\n".join(lines)
