# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Who changed a node before now: Slurm accounting and the API server's audit log. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ..gate.slurm import FAILED, KILLED, LOST
from .model import Actor

DAYS = 7
"""How far back Slurm accounting is read."""
FIELDS = "Start,State,Reason,User"
DAEMONS = ("drawbridge", "Node unexpectedly rebooted", *LOST, *KILLED, *FAILED)
"""Reasons that begin so are Drawbridge's or Slurm's own."""
WRITES = ("create", "update", "patch", "delete")
OWN_USERS = ("system:node:", "system:serviceaccount:kube-system:", "system:kube-", "system:serviceaccount:drawbridge-")
OWN_AGENTS = ("drawbridge",)
MOST = 10
"""Writes that are shown, the latest."""


def drains(text: str) -> tuple[Actor, ...]:
    """Drains by people, from `sacctmgr show event` with FIELDS. A drain that has ended is here, too."""
    rows = (line.split("|") for line in text.splitlines() if line.count("|") >= FIELDS.count(","))
    found = [
        Actor(f"drain in Slurm ({reason})", _user(user), start) for start, _unused, reason, user in map(_row, rows)
    ]
    return tuple(one for one in found if _by_person(one))[-MOST:]


def _row(words: list[str]) -> tuple[str, str, str, str]:
    """The fields; a reason may hold the separator."""
    return words[0], words[1], "|".join(words[2:-1]), words[-1]


def _user(text: str) -> str:
    """The name in `ben(1002)`."""
    return text.partition("(")[0]


def _by_person(one: Actor) -> bool:
    reason = one.what.partition("(")[2][:-1]
    return bool(reason) and one.who != "slurm" and not reason.startswith(DAEMONS)


def writes(lines: Iterable[str], node: str) -> tuple[Actor, ...]:
    """Writes of the Node object by others, from lines of the audit log. It has users, managedFields has programs."""
    return tuple(_writes(lines, node))[-MOST:]


def _writes(lines: Iterable[str], node: str) -> Iterator[Actor]:
    for line in lines:
        # most lines are about something else, and JSON is slow
        if f'"{node}"' in line and '"nodes"' in line:
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and _is_write(event, node) and not _is_own(event):
                yield _actor(event)


def _is_write(event: dict[str, Any], node: str) -> bool:
    what, status = event.get("objectRef") or {}, event.get("responseStatus") or {}
    named = (what.get("resource"), what.get("name")) == ("nodes", node)
    done = event.get("stage") == "ResponseComplete" and status.get("code", 0) < 300
    return named and done and event.get("verb") in WRITES


def _who(event: dict[str, Any]) -> str:
    """The user; of an impersonated one, the user that impersonates."""
    return str((event.get("user") or {}).get("username", ""))


def _is_own(event: dict[str, Any]) -> bool:
    return _who(event).startswith(OWN_USERS) or str(event.get("userAgent", "")).startswith(OWN_AGENTS)


def _actor(event: dict[str, Any]) -> Actor:
    part = event["objectRef"].get("subresource")
    program = str(event.get("userAgent", "")).partition("/")[0] or "an unnamed program"
    what = f"{event['verb']} of the Node object{f' ({part})' if part else ''} with {program}"
    return Actor(what, _who(event), str(event.get("stageTimestamp", ""))[:19] + "Z")
