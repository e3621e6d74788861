# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One project in sentences. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from ..budget.period import following
from . import limits, state
from .model import OPEN, Directory, Seen, Site

WORDS = {"cpus": "CPUs", "memory_mib": "MiB of memory", "gpus": "GPUs", "nodes": "nodes"}
MOST = 20
"""People that are named."""


def lines(seen: Seen, site: Site, today: date, notes: Sequence[str] = (), missing: str = "") -> list[str]:
    """Everything of a project. `missing` says why its directory shows nothing."""
    rows = [*_rows(seen, site, today, missing)]
    width = max(len(name) for name, _text in rows)
    found = [_heading(seen, today), *(f"Note: {note}" for note in notes), ""]
    for one in state.findings(seen, today):
        found += [f"{one.text}.", *([f"  next: {one.step}"] if one.step else [])]
    found += [""] if found[-1] else []
    found += [f"{name.ljust(width)}  {text}" for name, text in rows]
    if coming := state.coming(seen, today):
        found += ["", "What happens next:", *(f"  {one}" for one in coming)]
    return found


def _heading(seen: Seen, today: date) -> str:
    project = seen.project
    ends = f", ends {state.left(project.ends, today)}" if project.ends else ", without an end"
    return f"project {project.name}: {state.state(seen, today)}{ends if project.has_account else ''}"


def _rows(seen: Seen, site: Site, today: date, missing: str) -> Iterator[tuple[str, str]]:
    project = seen.project
    yield from _named("closed", state.closed(seen, today))
    if project.has_account:
        yield from _account(seen, today)
    if project.directory:
        yield from _directory(seen, project.directory, missing, state.state(seen, today) == OPEN)
    yield from _pods(seen, site)


def _account(seen: Seen, today: date) -> Iterator[tuple[str, str]]:
    project = seen.project
    yield "people", _people(seen)
    yield "partitions", ", ".join(project.partitions) or "none"
    copied = f", with the settings of {project.like}" if project.like and project.like not in project.qos else ""
    yield "qos", f"{', '.join(project.qos) or 'normal'}{copied}"
    yield "share", str(project.fair_share)
    yield "limits", _limits(seen)
    yield from _named("budget", _budget(seen, today))
    yield from _named("jobs", state.jobs(seen, today) if seen.jobs is not None else ())


def _people(seen: Seen) -> str:
    if not seen.account:
        return "not known" if not seen.known else "none"
    users = sorted(seen.account.users)
    more = f" and {len(users) - MOST} more" if len(users) > MOST else ""
    others = "; PrivateData hides others" if seen.account.submits is None else ""
    return f"{', '.join(users[:MOST])}{more} ({len(users)}){others}" if users else "none"


def _limits(seen: Seen) -> str:
    project = seen.project
    shown = [
        f"{text} {_amount(value)}"
        for text, value in (("all jobs", project.total), ("one job", project.per_job))
        if value
    ]
    shown += [f"{project.jobs} running jobs"] if project.jobs >= 0 else []
    shown += [f"{project.submits} running and waiting jobs"] if project.submits >= 0 else []
    shown += [f"{project.max_time} as the longest time limit"] if project.max_time else []
    return "; ".join(shown) or "none of its own"


def _amount(value: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {WORDS.get(key, key)}" for key, number in value.items())


def _named(name: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Rows of which the first alone has the name."""
    for text in texts:
        yield name, text
        name = ""


def _budget(seen: Seen, today: date) -> Iterator[str]:
    kind, found = seen.project.period, limits.budget(seen)
    for part in found:
        more = f", {limits.in_words(part.running)} more may go to running jobs" if part.running else ""
        yield f"{part.name} {part.text}{more}"
    if found:
        yield f"begins anew each {kind}, next on {following(kind, today).isoformat()}" if kind else "never begins anew"


def _directory(seen: Seen, own: Directory, missing: str, is_open: bool) -> Iterator[tuple[str, str]]:
    space = seen.space
    yield "directory", own.path
    if space:
        differs = is_open and (space.owner, space.group, space.mode) != (own.owner, own.group, own.mode.rjust(4, "0"))
        wanted = f"; the site declares {own.owner}:{own.group} {own.mode.rjust(4, '0')}" if differs else ""
        yield "", f"{space.owner}:{space.group} {space.mode}{wanted}"
    else:
        yield "", missing or "not known"
    for part in (limits.space(seen), limits.files(seen)):
        if part:
            yield part.name, part.text
    if text := limits.elsewhere(seen):
        yield "", text
    if not own.quota_gib and not own.inodes:
        yield "space", "without a limit of Drawbridge's"


def _pods(seen: Seen, site: Site) -> Iterator[tuple[str, str]]:
    project = seen.project
    if project.namespace:
        yield "namespace", project.namespace
    claims = (f"{it['name']}{', read-only' if it.get('read_only') else ''}" for it in project.claims)
    yield from _named("claims", claims)
    yield from _named("data sets", (f"{it}: {site.data.get(it, 'not known')}, read-only" for it in project.data))
    if images := project.images or site.images:
        yield "images", _images(images)


def _images(images: Mapping[str, Any]) -> str:
    allowed = ", ".join(images.get("allow") or ()) or "none"
    return f"{allowed}{', by digest only' if images.get('digests_only') else ''}"
