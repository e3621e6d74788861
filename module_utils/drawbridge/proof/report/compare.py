# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What differs between the last proof and this one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..result import Judged, ProofFinding, Result
from .measures import rows
from .words import Folded, folded, hosts

CHANGED, LOST = 0.05, 0.10
"""Smaller changes of a middle value, and smaller losses of one measure, are not shown: they are noise."""


@dataclass(frozen=True)
class Moved:
    """Measures of one name whose middle value changed."""

    check: str
    name: str
    unit: str
    before: float
    now: float
    better: bool


@dataclass(frozen=True)
class Comparison:
    """Differences from the proof that ended at `since`."""

    since: str
    release: str
    verdicts: tuple[tuple[str, str, str], ...]
    """Verdict before, verdict now, hostlist; `absent` where a proof did not have these nodes."""
    new: tuple[Folded, ...]
    gone: tuple[Folded, ...]
    moved: tuple[Moved, ...]
    weaker: tuple[tuple[Judged, Judged], ...]
    """The same measurement before and now, where it is worse by at least LOST; the largest loss first."""

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.verdicts or self.new or self.gone or self.moved or self.weaker)


def compared(last: Result, now: Result) -> Comparison:
    """Compare two results."""
    before, after = ({_key(it): it for it in result.findings} for result in (last, now))
    return Comparison(
        since=last.ended,
        release=last.release,
        verdicts=tuple(_verdicts(last, now)),
        new=tuple(folded([it for key, it in after.items() if key not in before])),
        gone=tuple(folded([it for key, it in before.items() if key not in after])),
        moved=tuple(_moved(last, now)),
        weaker=tuple(_weaker(last, now)),
    )


def _key(finding: ProofFinding) -> tuple[object, ...]:
    """The finding without its numbers; other than a limit, a text has none."""
    text = "" if finding.kind == "limit" else finding.text
    return (finding.check, finding.kind, finding.nodes, finding.rails, finding.leaves, text)


def _verdicts(last: Result, now: Result) -> Iterable[tuple[str, str, str]]:
    before, after = ({it.name: it.verdict for it in result.nodes} for result in (last, now))
    groups: dict[tuple[str, str], list[str]] = {}
    for name in {**after, **before}:
        groups.setdefault((before.get(name, "absent"), after.get(name, "absent")), []).append(name)
    return ((one, other, hosts(names)) for (one, other), names in groups.items() if one != other)


def _moved(last: Result, now: Result) -> Iterable[Moved]:
    middles = [{(row.check, row.name, row.unit): row for row in rows(result.measures)} for result in (last, now)]
    for key, row in middles[1].items():
        old = middles[0].get(key)
        if old and old.middle > 0 and abs(row.middle / old.middle - 1) >= CHANGED:
            yield Moved(*key, old.middle, row.middle, (row.middle > old.middle) == row.at_least)


def _weaker(last: Result, now: Result) -> list[tuple[Judged, Judged]]:
    # of a repeated measurement the last one counts
    old, new = ({(it.check, it.name, it.where): it for it in result.measures} for result in (last, now))
    pairs = [(old[key], it) for key, it in new.items() if key in old]
    losses = [(_loss(*pair), *pair) for pair in pairs]
    return [(one, other) for loss, one, other in sorted(losses, key=lambda it: -it[0]) if loss >= LOST]


def _loss(before: Judged, now: Judged) -> float:
    """The share of the old value that is lost. Both are judged by the new limit's direction."""
    if before.unit != now.unit or before.value <= 0 or now.value <= 0:
        return 0.0
    return 1 - (now.value / before.value if now.at_least else before.value / now.value)
