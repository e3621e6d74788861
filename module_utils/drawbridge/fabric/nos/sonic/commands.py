# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""SONiC: the difference of two sets of entries. `-` is a line that goes, `+` one that comes.

The file change.py makes patches of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ....core import ports
from ...plan import PORT, Lines
from .lines import CHANNELS, covered

_WATCHED = "   PFC_WD "
_QUEUE = re.compile(r"   QUEUE\|(\d+-\d+)( .*)?")


def commands(have: Lines, want: Lines) -> list[str]:
    """What goes, then what comes. Queues of a range that are not owned keep what the range had.

    A port's watchdog goes and comes as a whole, since its command takes all of it.
    """
    watched = [{line for line in lines if line.startswith(_WATCHED)} for lines in (have, want)]
    whole = watched[0] | watched[1] if watched[0] != watched[1] else set()
    gone = [line for line in have if (line not in want or line in whole) and not line.startswith(PORT)]
    new = [line for line in want if (line not in have or line in whole) and not line.startswith(PORT)]
    kept = [line for line in _split(gone, want) if line not in have]
    return [*(f"- {line.strip()}" for line in gone), *(f"+ {line.strip()}" for line in (*new, *kept))]


def on_ports(names: Sequence[str], lines: Lines) -> Lines:
    """Ports with the same lines are one range in the key: `QUEUE|Ethernet0-24:8|3`."""
    every = ports.compress([name for text in names for name in ports.expand(text)])
    return tuple(_named(line, every) for line in lines)


def stops(section: str, have: Lines, want: Lines) -> str:
    """The updater takes ports down to change queues or maps; a new MTU may do so too."""
    if not section.startswith(PORT):
        return ""
    if any(line.startswith(f"   {CHANNELS} ") for line in want):
        return "a new MTU takes the links of {ports} down for a moment" if have != want else ""
    flapping = [{line for line in lines if not line.startswith("   PFC_WD")} for lines in (have, want)]
    return "SONiC takes the links of {ports} down to change their queues and maps" if flapping[0] != flapping[1] else ""


def _named(line: str, names: str) -> str:
    sign, path, *rest = line.split(" ")
    table, *key = path.split("|")
    return " ".join([sign, "|".join([table, names, *key]), *rest])


def _split(gone: list[str], want: Lines) -> Iterator[str]:
    """Lines for each queue of a range that goes, unless the wanted state has the queue."""
    wanted = {line.split(" ")[3].partition("|")[2] for line in want if line.startswith("   QUEUE|")}
    for match in filter(None, map(_QUEUE.fullmatch, gone)):
        for queue in covered(match[1]):
            if str(queue) not in wanted and "ROCE" not in (match[2] or ""):
                yield f"   QUEUE|{queue}{match[2] or ''}"
