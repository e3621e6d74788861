# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Traffic classes of a port: which priorities share one, and its part of the link."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PRIORITIES = range(8)
STRICT, ETS = "strict", "ets"
Queues = tuple[tuple[int, str, int], ...]
"""Traffic class, algorithm and share in percent of each priority, from 0 to 7."""
ONE_CLASS: Queues = ((0, ETS, 100),) * len(PRIORITIES)
"""What ice has without a DSCP map."""
NEW_MAP: Queues = tuple((priority, ETS, 0 if priority else 100) for priority in PRIORITIES)
"""What ice sets with the first entry of a DSCP map."""


def shared(percent: Mapping[int, int]) -> Queues:
    """The queues in which each listed priority has a traffic class of its own, and all others share the next one.

    A share of 0 is strict priority. Of the link, the others get the rest.
    """
    if not percent:
        return ()
    others = next(priority for priority in PRIORITIES if priority not in percent)
    rest = (others, ETS, 100 - sum(percent.values()))
    own = {priority: (priority, ETS if share else STRICT, share) for priority, share in percent.items()}
    return tuple(own.get(priority, rest) for priority in PRIORITIES)


def own_classes(queues: Queues) -> Queues:
    """The same shares where each priority has the class of its own number.

    Priorities that shared a class divide its share: each gets 1 %, and the first the rest. The first has the unmarked
    packets. An even part would be too little for them while the other priorities send nothing.
    """
    found = []
    for priority, (number, algorithm, share) in enumerate(queues):
        members = [other for other in PRIORITIES if queues[other][0] == number]
        least = 1 if algorithm == ETS and share >= len(members) else 0
        first = share - least * (len(members) - 1)
        found.append((priority, algorithm, first if priority == members[0] else least))
    return tuple(found)


def ets_options(queues: Iterable[tuple[int, str, int]]) -> tuple[str, ...]:
    """Queues as options, which one request sets; a traffic class that no priority uses is strict."""
    classes = {number: (algorithm, share) for number, algorithm, share in queues}
    used = [classes.get(number, (STRICT, 0)) for number in PRIORITIES]
    lists = (
        [number for number, _unused, _unused in queues],
        [algorithm for algorithm, _unused in used],
        [share for _unused, share in used],
    )
    return tuple(word for option, values in zip("pst", lists) for word in (f"-{option}", ",".join(map(str, values))))


def shares(queues: Iterable[tuple[int, str, int]]) -> str:
    """Queues as a part of a sentence. Classes with a share are named one by one, the others by their algorithm."""
    members: dict[tuple[int, str], list[str]] = {}
    for priority, (number, algorithm, share) in enumerate(queues):
        said = (number, f"{share} %") if algorithm == ETS else (0, algorithm)
        members.setdefault(said, []).append(str(priority))
    return ", ".join(f"{said} for priority {' '.join(names)}" for (_unused, said), names in members.items())
