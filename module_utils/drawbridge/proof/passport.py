# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The passport of a node: checks that passed, and values that they depend on. A changed value makes it worthless."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta, timezone

LACKS = "it has no passport"


@dataclass(frozen=True)
class Passport:
    """One proof of one node."""

    node: str
    proved: str
    """When the proof ended: ISO 8601 in UTC, such as 2026-11-28T21:00:00+00:00."""
    release: str
    """Of Drawbridge."""
    checks: Sequence[str]
    """Names of the checks that passed."""
    depends: Mapping[str, str]
    """What the result depends on, by name: a digest of the node's intent, kernel, driver, firmware, cables."""


def text(passport: Passport) -> str:
    """The passport as one line of JSON, always the same for equal content: the signature is over it."""
    return json.dumps(asdict(passport), sort_keys=True, separators=(",", ":")) + "\n"


def parse(line: str) -> Passport:
    """A passport from its text. Raises ValueError for anything else, also for a key too many."""
    found = json.loads(line)
    names = {one.name for one in fields(Passport)}
    if not isinstance(found, dict) or found.keys() != names:
        raise ValueError(f"a passport has exactly the keys {', '.join(sorted(names))}")
    words = (found["node"], found["proved"], found["release"])
    depends, checks = found["depends"], found["checks"]
    if not (isinstance(depends, dict) and isinstance(checks, list)):
        raise ValueError("depends is a mapping, and checks is a list")
    if not all(isinstance(word, str) for word in (*words, *checks, *depends.values())):
        raise ValueError("values of a passport are texts")
    _when(found["proved"])
    return Passport(*words, tuple(checks), depends)


def stale(passport: Passport, node: str, now: Mapping[str, str], at: datetime, most_days: int | None) -> list[str]:
    """Why a passport does not hold for a node: sentences; empty if it holds.

    `now` has the values that a new proof would depend on. `at` is the present time, with its zone. Without `most_days`,
    age alone does not matter.
    """
    if passport.node != node:
        return [f"it is that of {passport.node}"]
    found = [_difference(name, passport.depends.get(name), now.get(name)) for name in sorted({*passport.depends, *now})]
    age = at - _when(passport.proved)
    if age < timedelta(0):
        found.append(f"it is from {passport.proved}, which is in the future")
    elif most_days is not None and age > timedelta(days=most_days):
        found.append(f"it is older than the {most_days} days that are allowed")
    return [sentence for sentence in found if sentence]


def _difference(name: str, before: str | None, now: str | None) -> str:
    """A sentence on a changed value. A value that can't be read now is a change: unknown is never proved."""
    if before == now:
        return ""
    if before is None:
        return f"{name} is {now} now, and was not part of the proof"
    return f"{name} was {before}, and " + (f"is {now} now" if now is not None else "can't be read now")


def _when(proved: str) -> datetime:
    """Its time. Raises ValueError for a time without a zone."""
    found = datetime.fromisoformat(proved)
    if found.tzinfo is None:
        raise ValueError(f"{proved} has no time zone")
    return found.astimezone(timezone.utc)
