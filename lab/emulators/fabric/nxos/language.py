# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What NX-OS refuses, and how it prints: two spaces, DSCPs by their names, classes without lines too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.language import Language, Line
from lab.emulators.fabric.nxos.lines import GRAMMAR, TABLES
from lab.emulators.fabric.switch import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lab.emulators.fabric.cli.grammar import Match
    from lab.emulators.fabric.cli.tree import Node

NAMES = {
    **{8 * number: f"cs{number}" for number in range(1, 8)},
    **{8 * number + 2 * drop: f"af{number}{drop}" for number in range(1, 5) for drop in range(1, 4)},
    46: "ef",
}
ATTACH = "service-policy type "
CHANNELS_OWN = ("mtu ", "priority-flow-control mode ", ATTACH)
"""What only a port-channel can be given, not its members. Captures print its MTU and PFC on the members too, but not
its policies; that NX-OS refuses them there is modelled."""
INHERITED = ("mtu", "pfc")
JUMBO = 9216


class NxOs(Language):
    """The configuration as it runs."""

    grammar = GRAMMAR
    indent = "  "
    separator = ""
    fixed = re.compile("interface Ethernet|system qos")
    defaults = ("no", "default")
    shows_empty = True

    def table(self, mode: str, platform: str) -> tuple[Line, ...]:
        """Return the lines that a mode takes."""
        del platform
        return TABLES[mode]

    def apply(self, config: Node, path: list[str], mode: str, platform: str, text: str) -> tuple[list[str], str]:
        """Apply one line; a DSCP may be typed by its name."""
        if text.startswith("scheduler ") and not _schedules(config):
            raise Refused(GRAMMAR.invalid)
        led = super().apply(config, path, mode, platform, re.sub(r"(?<=match dscp )[a-z]\w+", _numbered, text))
        _inherit(config)
        if not _schedules(config):
            blocks = config["blocks"].items()
            config["blocks"] = {key: node for key, node in blocks if not tree.header(key).startswith("scheduler ")}
        return led

    def finish(self, printed: list[str]) -> list[str]:
        """Name DSCPs that have a name."""
        return [re.sub(r"^  match dscp (\d+)$", _named, line) for line in printed]

    def check(self, config: Node, path: list[str], found: Match, *, removes: bool) -> None:
        """Refuse dangling names, double use, and values that contradict each other."""
        text, node = found.text, _node(config, path)
        if text.startswith(ATTACH) and not removes:
            _attach(config, node, found)
        if removes and text.startswith(("class-map ", "policy-map ")) and (user := _user(config, text)):
            raise Refused(f"ERROR: {text} is being used by {user}")
        if removes or not path:
            return
        if found.pattern == "class <name:word>" and not _defined(config, "class-map type qos", found.args["name"]):
            raise Refused(f"ERROR: class-map {found.args['name']} does not exist")
        if found.text.startswith("bandwidth remaining"):
            _share(config, path, int(found.args["percent"]))
        slots = {key.split(" ", 1)[1].split()[0] for key in node["lines"]}
        if {found.words[0], *slots} >= {"priority", "bandwidth"}:
            raise Refused("ERROR: priority and bandwidth cannot be configured in one class")
        if "min" in found.args and int(found.args["min"]) > int(found.args["max"]):
            raise Refused("ERROR: minimum-threshold is above maximum-threshold")
        if "channel-group" in slots and text.startswith(CHANNELS_OWN):
            raise Refused(f"ERROR: {header(path).split()[-1]} is a member of a port-channel, which has this setting")
        switched = "no switchport" not in node["lines"].values()
        if (
            header(path).startswith(("interface Ethernet", "interface port-channel"))
            and switched
            and found.args.get("bytes") not in (None, "1500")
        ):
            _layer_2(header(path), int(found.args["bytes"]))


class Cached(NxOs):
    """Lines of a target configuration, which a commit verifies."""

    def check(self, config: Node, path: list[str], found: Match, *, removes: bool) -> None:
        """Take every line of the grammar."""


NXOS, CACHED = NxOs(), Cached()


def header(path: list[str]) -> str:
    """Return the header of the top-level block of a path."""
    return tree.header(path[0])


def attached(node: Node, kind: str) -> str:
    """Return the name of the policy that a port or the system has, or nothing."""
    return next((text.split()[-1] for text in node["lines"].values() if text.startswith(f"{ATTACH}{kind} ")), "")


def _schedules(config: Node) -> bool:
    return "feature scheduler" in config["lines"].values()


def _inherit(config: Node) -> None:
    """Give members of port-channels their MTU and PFC."""
    for node in config["blocks"].values():
        group = next(tree.values(node, "channel-group "), "")
        channel = tree.block(config, f"interface port-channel{group.split()[0]}") if group else None
        if channel:
            kept = {key: text for key, text in node["lines"].items() if key.split(" ", 1)[1] not in INHERITED}
            given = {key: text for key, text in channel["lines"].items() if key.split(" ", 1)[1] in INHERITED}
            node["lines"] = {**kept, **given}


def _numbered(match: re.Match[str]) -> str:
    return next((str(number) for number, name in NAMES.items() if name == match[0]), match[0])


def _named(match: re.Match[str]) -> str:
    return f"  match dscp {NAMES.get(int(match[1]), match[1])}"


def _node(config: Node, path: list[str]) -> Node:
    for key in path:
        config = config["blocks"].get(key, tree.empty())
    return config


def _defined(config: Node, kind: str, name: str) -> bool:
    own = [tree.header(key).split() for key in config["blocks"]]
    return name == "class-default" or any(" ".join(words).startswith(kind) and words[-1] == name for words in own)


def _attach(config: Node, node: Node, found: Match) -> None:
    """One policy of a kind and direction, which is defined."""
    kind, policy = found.text.removeprefix(ATTACH).rsplit(" ", 1)
    if not _defined(config, f"policy-map type {kind.split()[0]}", policy):
        raise Refused(f"ERROR: policy-map {policy} does not exist")
    have = attached(node, kind)
    if have and have != policy:
        raise Refused(f"ERROR: policy-map {have} of type {kind} is already attached")


def _user(config: Node, text: str) -> str:
    """Return the header of a block that refers to a class or a policy."""
    kind, name = text.split()[0], text.split()[-1]
    for title, node in _blocks(config):
        if kind == "class-map" and title == f"class {name}":
            return title
        if kind == "policy-map" and any(f"{ATTACH}{text.split()[2]} " in t and t.endswith(f" {name}") for t in node):
            return title
    return ""


def _blocks(config: Node) -> Iterator[tuple[str, list[str]]]:
    for key, node in config["blocks"].items():
        yield tree.header(key), [*node["lines"].values()]
        yield from _blocks(node)


def _share(config: Node, path: list[str], percent: int) -> None:
    """Shares of one policy are 100 percent at most."""
    policy = _node(config, path[:-1])
    for key, node in policy["blocks"].items():
        if key != path[-1]:
            percent += sum(map(int, tree.values(node, "bandwidth remaining percent ")))
    if percent > 100:
        raise Refused(f"ERROR: sum of bandwidth remaining percent is {percent}")


def _layer_2(title: str, mtu: int) -> None:
    if mtu != JUMBO:
        raise Refused(f"ERROR: {title.split()[-1]}: MTU on L2 interfaces can only be set to default or system-jumboMTU")
