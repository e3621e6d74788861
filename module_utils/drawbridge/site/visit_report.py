# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The result of a visit, from those of its layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .visit import DONE, FAILED, STOPPED, Visited


@dataclass(frozen=True)
class Place:
    """Where a layer comes from: its role and the name of its task."""

    role: str
    task: str
    proves: bool = False
    """Its success proves the node ready for jobs."""

    def __str__(self) -> str:
        return f"{self.role}: {self.task}"


def report(layers: Sequence[tuple[Place, Visited]]) -> dict[str, Any]:
    """One result: each layer that did more than read, in order, and the diffs and warnings of all.

    `proved` is there only if the node was proved ready for jobs.
    """
    found: dict[str, Any] = {"changed": any(seen.result.get("changed") for _unused, seen in layers)}
    found["layers"] = [_layer(place, seen) for place, seen in layers if _speaks(seen)]
    found["warnings"] = [text for _unused, seen in layers for text in seen.result.get("warnings", ())]
    found["diff"] = [seen.result["diff"] for _unused, seen in layers if "diff" in seen.result]
    if any(place.proves and seen.state == DONE and not seen.result.get("pending") for place, seen in layers):
        found["proved"] = True
    failed = [f"{place}: {seen.result.get('msg', 'failed')}" for place, seen in layers if seen.state == FAILED]
    if failed:
        left = [str(place) for place, seen in layers if seen.state == STOPPED]
        waiting = [f"not done, because it needs that: {'; '.join(left)}"] if left else []
        found |= {"failed": True, "msg": "\n".join([*failed, *waiting])}
    return found


def _speaks(seen: Visited) -> bool:
    return seen.state in (FAILED, STOPPED) or any(seen.result.get(key) for key in ("changed", "pending"))


QUIET = {"diff", "failed", "warnings"}


def _layer(place: Place, seen: Visited) -> dict[str, Any]:
    result = {key: value for key, value in seen.result.items() if key not in QUIET and value != []}
    return {"role": place.role, "task": place.task, "state": seen.state, **result}
