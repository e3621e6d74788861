# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""How the lines of a system's configuration are typed and printed: apply one to a tree, print a tree."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lab.emulators.fabric.cli import tree
from lab.emulators.fabric.cli.grammar import Grammar, Match, expand
from lab.emulators.fabric.cli.tree import Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True)
class Line:
    """One kind of line of a mode.

    `slot` names what the line sets: a second line of the same slot replaces the first. `opens` makes the line a block
    header of that mode. `off` is what may follow `no`; `kept` is what `no` leaves in the configuration where the
    system prints the negation itself. `hidden` is the default that running-config doesn't print. `each` names an
    argument that lists several slots at once. `dropped` is an end that isn't printed. Lines of one `group` print
    without a separator between them.
    """

    pattern: str
    slot: str
    group: int = 0
    off: str = ""
    kept: str = ""
    hidden: str = ""
    opens: str = ""
    each: str = ""
    dropped: str = ""


class Language:
    """How a system's configuration is typed and printed. A system overrides what differs."""

    grammar = Grammar(ports=("Ethernet",))
    indent = "   "
    separator = "!"
    """Printed between groups of top-level lines and before nested blocks."""
    fixed = re.compile(r"(?!)")
    """Headers of blocks that stay, with their defaults, when they are removed: ports of the hardware."""
    defaults = ("no", "default")
    """Words that undo a line. Only the first may leave a negation behind."""
    shows_empty = False
    """A nested block without lines is printed."""

    def table(self, mode: str, platform: str) -> tuple[Line, ...]:
        """Return the lines that a mode takes on a platform, in print order."""
        raise NotImplementedError

    def check(self, config: Node, path: list[str], found: Match, *, removes: bool) -> None:
        """Raise Refused for a line of the grammar that the system doesn't take here, such as a dangling name."""

    def prints(self, title: str, text: str, node: Node) -> bool:
        """Say whether running-config has a line of a block."""
        del title, text, node
        return True

    def finish(self, printed: list[str]) -> list[str]:
        """Return the whole text as the system spells it."""
        return printed

    def apply(self, config: Node, path: list[str], mode: str, platform: str, text: str) -> tuple[list[str], str]:
        """Apply one line to the block at `path`; return the path and the mode that it leads to.

        Raises Refused with the system's text when the line is none of this mode's.
        """
        lines = self.table(mode, platform)
        verb, _, rest = text.strip().partition(" ")
        if verb.lower() in self.defaults:
            patterns = {_off(line): index for index, line in enumerate(lines)}
            found = self.grammar.match(patterns, rest)
            self.check(config, path, found, removes=True)
            keep = verb.lower() == self.defaults[0]
            self._remove(tree.at(config, path), lines, patterns[found.pattern], found, keep=keep)
            return path, mode
        patterns = {line.pattern: index for index, line in enumerate(lines)}
        found = self.grammar.match(patterns, text)
        self.check(config, path, found, removes=False)
        index = patterns[found.pattern]
        line = lines[index]
        if line.opens:
            key = _key(line, index, found.text)
            tree.at(config, [*path, key])
            return [*path, key], line.opens
        _store(tree.at(config, path), line, index, found)
        return path, mode

    def typed(self, config: Node, platform: str, blocks: Iterable[Sequence[str]]) -> None:
        """Apply blocks, each a top-level line with the lines in it."""
        for header, *lines in blocks:
            path, mode = self.apply(config, [], "config", platform, header)
            for line in lines:
                self.apply(config, path, mode, platform, line)

    def render(self, config: Node) -> list[str]:
        """Return the lines of running-config, without its comment header and final `end`."""
        printed: list[str] = []
        group = ""
        for key, item in tree.in_order(config):
            block = isinstance(item, dict)
            if printed and (block or key.split(".")[0] != group):
                printed.append(self.separator)
            group = key.split(".")[0]
            printed += [tree.header(key), *self._body(item, tree.header(key))] if block else [item]
        return self.finish(printed)

    def diff(self, before: Node, after: Node, old: str, new: str) -> str:
        """Return a unified diff of two configurations; empty when nothing changes."""
        return "\n".join(difflib.unified_diff(self.render(before), self.render(after), old, new, lineterm=""))

    def _body(self, node: Node, title: str) -> list[str]:
        printed: list[str] = []
        for key, item in tree.in_order(node):
            if not isinstance(item, dict):
                printed += [item] if self.prints(title, item, node) else []
                continue
            inner = self._body(item, tree.header(key))
            if inner or self.shows_empty:
                printed += [*([self.separator] if self.separator else []), tree.header(key), *inner]
        return [f"{self.indent}{line}" for line in printed]

    def _remove(self, node: Node, lines: tuple[Line, ...], index: int, found: Match, *, keep: bool) -> None:
        line = lines[index]
        if line.opens:
            key = _key(line, index, found.text)
            node["blocks"].pop(key, None)
            if self.fixed.match(tree.header(key)):
                tree.at(node, [key])
            return
        for args, _ in _each(line, found):
            key = _key(line, index, line.slot.format(**args))
            node["lines"].pop(key, None)
            if keep and line.kept:
                node["lines"][key] = line.kept


def _store(node: Node, line: Line, index: int, found: Match) -> None:
    for args, text in _each(line, found):
        key = _key(line, index, line.slot.format(**args))
        node["lines"][key] = text.removesuffix(line.dropped) if line.dropped else text
        if node["lines"][key] == line.hidden:
            del node["lines"][key]


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
    """Return what may follow `no`: by default the keywords and what names the slot, with or without the rest."""
    if line.off or line.opens or "<" not in line.pattern:
        return line.off or line.pattern
    end = max([line.pattern.index(f"<{name}:") for name in re.findall(r"{(\w+)}", line.slot)], default=-1)
    if end < 0:
        head, _, tail = line.pattern.partition("<")
        return f"{head}[<{tail}]"
    end = line.pattern.index(">", end) + 1
    return line.pattern[:end] + re.sub(r"<[^>]*>|[^<> ]+(?: [^<> ]+)*", r"[\g<0>]", line.pattern[end:])
