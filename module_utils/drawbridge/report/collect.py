# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a task's result says: one finding for each step, pending step, refusal and failure, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.printable import printable
from .secrets import redacted

CHANGED, PENDING, REFUSED, FAILED, UNREACHABLE, STOPPED = KINDS = (
    "changed",
    "pending",
    "refused",
    "failed",
    "unreachable",
    "stopped",
)
"""A step that was made or predicted. A step that waits. What a person must allow or repair first. A failure. A host
without an answer. A layer that needs one that failed."""
PLAYBOOK = "playbook"
"""The layer of tasks that no role has."""
HIDDEN = "failed; its result is hidden, because it may hold a secret"
MOST_LINES = 20
"""A cause of more lines is cut."""


@dataclass(frozen=True)
class Event:
    """A task's result on a host."""

    kind: str
    """ok, failed or unreachable."""
    host: str
    """Empty for a task that runs once for all hosts."""
    role: str
    task: str
    result: Mapping[str, Any] = field(default_factory=dict)
    """As the module returned it; with `localhost`, it is about files on the machine that runs Ansible."""


@dataclass(frozen=True)
class Finding:
    """One thing that a person should know."""

    kind: str
    host: str
    layer: str
    """The role."""
    task: str
    text: str


def findings(event: Event) -> list[Finding]:
    """What the result says; empty for a task that only read."""
    if event.kind == "unreachable":
        return [_finding(UNREACHABLE, event, _cause(event.result))]
    if layers := event.result.get("layers"):
        return [found for layer in layers for found in _of_layer(event, layer)]
    failed = event.kind == "failed"
    items = [item for item in event.result.get("results") or () if isinstance(item, Mapping)]
    if failed and not any(item.get("failed") for item in items):
        items = []
    return [found for one in items or [event.result] for found in _of_result(event, one, failed and not items)]


def _of_layer(event: Event, layer: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings of a layer of a visit."""
    place = Event(event.kind, event.host, str(layer.get("role", "")), str(layer.get("task", "")))
    state = layer.get("state")
    if state == "stopped":
        yield _finding(STOPPED, place, place.task)
    else:
        yield from _of_result(place, layer, state == "failed")


def _of_result(event: Event, result: Mapping[str, Any], failed: bool) -> Iterator[Finding]:
    """Findings of one module's result, which may be an item of a loop."""
    failed = failed or bool(result.get("failed"))
    refused = _texts(result, "refused") or _texts(result, "faults") if failed else []
    steps = _texts(result, "done" if failed else "steps")
    if result.get("changed") and not steps and not failed:
        steps = [event.task]
    if failed or result.get("changed"):
        yield from (_finding(CHANGED, event, text) for text in steps)
    yield from (_finding(PENDING, event, text) for text in _texts(result, "pending"))
    yield from (_finding(REFUSED, event, text) for text in refused)
    if failed and not refused:
        yield _finding(FAILED, event, _cause(result))


def _texts(result: Mapping[str, Any], key: str) -> list[str]:
    value = result.get(key)
    return [str(text) for text in value] if isinstance(value, Sequence) and not isinstance(value, str) else []


def _cause(result: Mapping[str, Any]) -> str:
    """Why it failed, in the module's words. A command says it on stderr."""
    if "censored" in result:
        return HIDDEN
    said = str(result.get("msg") or "").strip()
    if not said or said == "non-zero return code":
        stderr = str(result.get("stderr") or result.get("module_stderr") or "").strip()
        said = "\n".join(filter(None, [said, *stderr.splitlines()[-3:]]))
    lines = said.splitlines()
    cut = [f"... {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *cut]) or "failed, and gave no cause"


def _finding(kind: str, event: Event, text: str) -> Finding:
    host = "localhost" if event.result.get("localhost") else event.host
    return Finding(kind, host, event.role or PLAYBOOK, event.task, printable(redacted(text)))
