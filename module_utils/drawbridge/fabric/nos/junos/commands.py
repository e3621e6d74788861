# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Juniper Junos: the lines that lead from one set of statements to another. Only differences are typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....core import ports
from ...plan import PORT, Lines
from .lines import COS, ECN, OFF, PAUSE, ROOTS, statement, within

LISTS = ("code-points", "flow-control-queue")
"""Statements with several values: a new one does not replace an old one."""
_SET = re.compile(rf"({COS} forwarding-class-set \S+).*")
"""A set of classes is bound as a whole: without its profile, its name would stay."""
BLOCKING = (f"   {COS} congestion-notification-profile ", f"   {OFF}")
FLAPPING = ("   mtu ", "   ether-options ", "   aggregated-ether-options ", f"   {OFF}mtu")


def commands(have: Lines, want: Lines) -> list[str]:
    """Delete unwanted statements, then set missing ones. On ports, the port's name is left to on_ports()."""
    if any(line.startswith(PORT) for line in (*want, *have)):
        return list(_of_port(have, want))
    gone = [line for line in have if not any(within(it, line) for it in want)]  # a bare object gets its statements
    new = [line for line in want if line not in have]
    if _is_ordered((*have, *want)) and have != want and have:
        return [f"delete {ROOTS[ECN][0]}", *(f"set {line}" for line in want)]  # a list takes new values at its end
    dropped = [_object(line, want) for line in gone if not line.startswith(OFF) and not _replaced(line, new)]
    done = [f"delete {path}" for path in dict.fromkeys(dropped)]
    done += [f"activate {line.removeprefix(OFF)}" for line in gone if line.startswith(OFF) and _kept(line, want)]
    return [*done, *(f"set {line}" for line in new)]


def stops(section: str, have: Lines, want: Lines) -> str:
    """Junos blocks a port while its PFC changes. A new MTU takes the link down. A queue that changes its kind moves
    buffers; a new class in a queue of the same kind does nothing."""
    if section == PAUSE:
        return f"an edit of {PAUSE} blocks all its ports for a moment" if have else ""
    if section.startswith("forwarding class "):
        return f"another queue of {section} moves buffers of all ports" if set(have) - set(want) else ""
    if not section.startswith(PORT):
        return ""
    if _only(have, FLAPPING) != _only(want, FLAPPING):
        return "a new MTU or flow control takes the links of {ports} down for a moment"
    return "a change of PFC blocks {ports} for a moment" if _only(have, BLOCKING) != _only(want, BLOCKING) else ""


def on_ports(names: Sequence[str], lines: Lines) -> Lines:
    """Junos types ports one by one."""
    every = [name for text in names for name in ports.expand(text)]
    return tuple(_typed(line, name) for name in every for line in lines)


def _of_port(have: Lines, want: Lines) -> Iterator[str]:
    new = [line.strip() for line in want if line not in have and not line.startswith(PORT)]
    gone = [_SET.sub(r"\1", line.strip()) for line in have if line not in want and not line.startswith(PORT)]
    for line in dict.fromkeys(gone):
        if line.startswith(OFF):
            if _kept(line, tuple(map(str.strip, want))):
                yield f"activate {line.removeprefix(OFF)}"
        elif not _replaced(line, new):
            yield f"delete {line}"
    yield from (f"set {line}" for line in new)


def _typed(line: str, name: str) -> str:
    verb, _unused, path = line.partition(" ")
    return f"{verb} {statement(path, name)}"


def _is_ordered(lines: Lines) -> bool:
    return any(within(line.removeprefix(OFF), ROOTS[ECN][0]) for line in lines)


def _replaced(line: str, new: list[str]) -> bool:
    """Whether a new value takes the place of the old one."""
    head, _unused, _unused = line.rpartition(" ")
    return head.rpartition(" ")[2] not in LISTS and any(it.rpartition(" ")[0] == head for it in new)


def _object(line: str, want: Lines) -> str:
    """The largest object of Drawbridge that goes with a statement: a scheduler goes as a whole, not line by line."""
    root = next((path for paths in ROOTS.values() for path in paths if within(line, path)), line)
    words = line.split()
    for count in range(len(root.split()), len(words)):
        path = " ".join(words[:count])
        if not any(within(it, path) for it in want):
            return path
    return line


def _kept(mark: str, want: Lines) -> bool:
    return any(within(line, mark.removeprefix(OFF)) for line in want)


def _only(lines: Lines, start: tuple[str, ...]) -> set[str]:
    return {line for line in lines if line.startswith(start)}
