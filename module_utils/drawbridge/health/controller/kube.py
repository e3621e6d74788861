# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Health on Node objects: the condition that Drawbridge writes, and conditions and cordons of others as findings. Pure.

The condition says of a node what Slurm says of it. It is True while a finding keeps the node drained.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from typing import Any

from ...core import hostlist
from ...core.names import HEALTH_CONDITION
from ..decide import Seen
from ..finding import HEALS, REBOOT, REPAIR, Finding, heaviest, of_reason, written
from ..model import Health

Json = dict[str, Any]
TRUE, FALSE = "True", "False"
NEVER = (HEALTH_CONDITION, "Ready")
"""Types that are no finding while they are True: one repeats Slurm's reason, the other means that all is well."""
CORDON = "cordon: by "
OWN = "drawbridge"
"""The start of the names of Drawbridge's own managers. None of them cordons a node."""
UNSCHEDULABLE = ("f:spec", "f:unschedulable")
LONGEST = 1024
"""Characters of a message. The admission policy refuses longer ones."""
HEARTBEAT_S = 1800.0
"""After this time an unchanged condition is written again, so that a reader sees that it is not forgotten."""
PAUSES = 20
"""Rest so many times as long as a look took: a list of all nodes costs the API server what they weigh."""
DRAINED = {HEALS: "Drained", REBOOT: "NeedsReboot", REPAIR: "NeedsRepair"}


@dataclass(frozen=True)
class Condition:
    """What the condition says. `status` is TRUE or FALSE."""

    status: str
    reason: str
    message: str


@dataclass(frozen=True)
class Node:
    """What counts of a Node object."""

    name: str
    conditions: Mapping[str, Json]
    """By type: Drawbridge's own one, and those that the site names."""
    cordoned_by: str = ""
    """The manager that cordoned it last; empty if it is not cordoned, or only by Drawbridge."""


@dataclass(frozen=True)
class Last:
    """What the last look at the API server found, and what it cost."""

    time: float = 0.0
    took_s: float = 0.0
    found: Mapping[str, tuple[Finding, ...]] | None = None
    """None: no look is known."""

    def due(self, now: float) -> bool:
        """Whether it is time for the next look. A clock that was set back makes it due."""
        return not self.time <= now < self.time + PAUSES * self.took_s

    def text(self) -> str:
        """The content of its file."""
        found = {name: [str(it) for it in some] for name, some in (self.found or {}).items()}
        return json.dumps({**asdict(self), "found": found})

    @classmethod
    def parse(cls, text: str) -> Last:
        """Read what `text` wrote. Raises ValueError."""
        try:
            raw = json.loads(text)
            found = {str(name): tuple(map(Finding.parse, some)) for name, some in raw["found"].items()}
            return cls(float(raw["time"]), float(raw["took_s"]), found)
        except (LookupError, TypeError, AttributeError) as err:
            raise ValueError(f"not the last look at the API server: {err!r}") from err


def node(item: Mapping[str, Any], types: Iterable[str]) -> Node:
    """What counts of a Node object, with the conditions of these types. Raises ValueError for anything else."""
    wanted = {HEALTH_CONDITION, *types}
    try:
        metadata, cordoned = item["metadata"], item.get("spec", {}).get("unschedulable")
        by = _cordoned_by(metadata.get("managedFields") or []) if cordoned else ""
        conditions = item.get("status", {}).get("conditions") or []
        return Node(str(metadata["name"]), {it["type"]: it for it in conditions if it["type"] in wanted}, by)
    except (LookupError, TypeError, AttributeError) as err:
        raise ValueError(f"not a Node object: {err!r}") from err


def _cordoned_by(managed: Iterable[Mapping[str, Any]]) -> str:
    """The manager that wrote the cordon last."""
    entries = [it for it in managed if it.get("subresource", "") == "" and _owns(it.get("fieldsV1"))]
    if not entries:
        return "an unnamed program"
    last = max(entries, key=lambda it: str(it.get("time", "")))
    who = str(last.get("manager") or "an unnamed program")
    return "" if who.startswith(OWN) else who


def _owns(fields: Any) -> bool:
    for key in UNSCHEDULABLE:
        fields = fields.get(key) if isinstance(fields, Mapping) else None
    return fields is not None


def found(
    nodes: Iterable[Node], health: Health, before: Mapping[str, Sequence[Finding]]
) -> tuple[dict[str, tuple[Finding, ...]], list[str]]:
    """Findings of others by node, and sentences about conditions that are neither True nor False.

    A condition that is neither True nor False changes nothing: its findings `before` remain.
    """
    every: dict[str, tuple[Finding, ...]] = {}
    unknown: dict[str, list[str]] = {}
    for it in nodes:
        some = [Finding(f"{CORDON}{it.cordoned_by}")] if health.cordons and it.cordoned_by else []
        for name in _types(health):
            there = it.conditions.get(name, {})
            status = there.get("status", FALSE)
            if status == TRUE:
                some.append(Finding(f"{name}: {there.get('message') or there.get('reason') or TRUE}"))
            elif status != FALSE:
                unknown.setdefault(name, []).append(it.name)
                some += [old for old in before.get(it.name, ()) if old.text.startswith(f"{name}: ")]
        if some:
            every[it.name] = written(some)
    return every, [f"{name} is unknown on {hostlist.compress(sorted(on))}" for name, on in unknown.items()]


def _types(health: Health) -> tuple[str, ...]:
    return tuple(it for it in health.conditions if it not in NEVER)


def of_drains(nodes: Iterable[Seen], health: Health) -> dict[str, tuple[Finding, ...]]:
    """Findings of others that nodes are drained for, by their reasons: they are known without the API server."""
    starts = tuple(f"{name}: " for name in _types(health)) + ((CORDON,) if health.cordons else ())
    held = {it.name: tuple(f for f in of_reason(it.reason) if f.text.startswith(starts)) for it in nodes if it.ours}
    return {name: some for name, some in held.items() if some}


def condition(seen: Seen, others: Sequence[Finding] = ()) -> Condition:
    """What Slurm's record and the findings say of a node. `others` are those that are not in the node's report."""
    report = seen.report
    findings = "; ".join(map(str, (*report.findings, *others)))
    if seen.ours:
        return Condition(TRUE, DRAINED[heaviest(of_reason(seen.reason))], _short(seen.reason))
    if seen.unavailable:
        return Condition(FALSE, "DrainedByOthers", _short(seen.reason or f"Slurm's state is {seen.state}"))
    if findings and report.kept:
        return Condition(FALSE, "Kept", _short(f"{report.kept}: {findings}"))
    if findings:
        return Condition(FALSE, "Found", _short(findings))
    return Condition(FALSE, "Healthy", "no findings")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def patches(nodes: Iterable[Node], wanted: Mapping[str, Condition], now: float, most: int) -> list[tuple[str, Json]]:
    """Strategic merge patches of nodes whose condition differs: changes first, then the oldest heartbeats.

    At most `most`; the next look does the rest. A node without an entry in `wanted` loses the condition.
    """
    all_of_them = [(it.name, _written(it.conditions.get(HEALTH_CONDITION), wanted.get(it.name), now)) for it in nodes]
    some = sorted(((age, name, body) for name, (age, body) in all_of_them if body), key=lambda it: it[:2])
    return [(name, {"status": {"conditions": [body]}}) for _age, name, body in some[:most]]


def _written(there: Json | None, want: Condition | None, now: float) -> tuple[float, Json]:
    """The condition to write, after the time that orders it; empty if it is as wanted, and young."""
    if not want:
        return 0.0, {"$patch": "delete", "type": HEALTH_CONDITION} if there else {}
    there = there or {}
    same = all(there.get(key) == value for key, value in asdict(want).items())
    beat = _seconds(there.get("lastHeartbeatTime"))
    if same and beat <= now < beat + HEARTBEAT_S:
        return beat, {}
    since = there.get("lastTransitionTime") if there.get("status") == want.status else ""
    times = {"lastHeartbeatTime": _time(now), "lastTransitionTime": since or _time(now)}
    return beat if same else 0.0, {"type": HEALTH_CONDITION, **asdict(want), **times}


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _seconds(text: Any) -> float:
    """A time of the API server as seconds since the epoch; 0 for none."""
    try:
        return datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return 0.0
