# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge project`: from the options to text and exit code."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from ..gate.command import Commands
from . import list_view, report_view, show_view, state
from .model import OK, UNKNOWN, WARNING, Account, Project, Seen, Site
from .month import Month
from .options import CSV, JSON
from .report import Report
from .site_io import NoProjects, Spaces, exists, site, spaces
from .slurm_io import Slurm

SHOWN = ("usage", "jobs", "users", "accounts")
"""Words of PrivateData that matter here."""


class Shown(NamedTuple):
    """What the command prints, its notes that are not in the text, and its exit code."""

    text: str
    notes: Sequence[str]
    code: int


@dataclass(frozen=True)
class Caller:
    """Who calls, and when."""

    name: str
    is_root: bool
    now: datetime

    @staticmethod
    def present() -> Caller:
        """This process."""
        try:
            name = pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            name = str(os.geteuid())
        return Caller(name, os.geteuid() == 0, datetime.now())


class Command:
    """One call."""

    def __init__(self, commands: Commands, caller: Caller, read: Callable[..., Site] = site) -> None:
        self._commands, self._caller, self._read = commands, caller, read
        self._today = caller.now.date()

    def run(self, given: Any) -> Shown:
        """The command line's verb. Raises NoProjects, and ValueError for a month that is none."""
        if given.verb == "list":
            return self._list(given)
        if given.verb == "show":
            return self._show(given)
        month = Month.of(given.month, self._caller.now)
        return self._report_all(given, month) if given.all else self._report(given, month)

    def attention(self) -> list[dict[str, Any]]:
        """Findings of the person's own projects, for `drawbridge status`. Root has none."""
        if self._caller.is_root or not exists():
            return []
        head = self._read(())
        names = self._slurm(head).own() or frozenset()
        if not names:
            return []
        seen, _spaces = self._look(self._read(names), self._slurm(head))
        return [
            {"project": one.project.name, **it._asdict()} for one in seen for it in state.findings(one, self._today)
        ]

    def _slurm(self, head: Site) -> Slurm:
        return Slurm(self._commands, head.cluster, self._caller.name, self._caller.is_root)

    def _list(self, given: Any) -> Shown:
        slurm = self._slurm(self._read(()))
        everything = given.all or slurm.sees_all()
        names = None if everything else slurm.own()
        found = self._read(None if everything else names or ())
        seen, rooms = self._look(found, slurm)
        notes = [*slurm.notes, *_silent(rooms)]
        if names is not None and not seen:
            notes.append("Slurm has no project of yours; --all shows those of others")
        code = self._code(seen, slurm, rooms)
        return self._shown(
            given.form,
            notes,
            code,
            _Forms(
                lambda: "\n".join(list_view.lines(seen, self._today, notes)),
                lambda: list_view.document(seen, self._today, code, notes),
                lambda: list_view.table([list_view.row(one, self._today) for one in seen], list_view.COLUMNS),
            ),
        )

    def _show(self, given: Any) -> Shown:
        project, head = self._one(given.name)
        slurm = self._slurm(head)
        [seen], rooms = self._look(head, slurm, people=True)
        if project.has_account:
            seen = seen._replace(jobs=slurm.jobs(project.name))
        notes = [*slurm.notes, *_silent(rooms), *filter(None, [slurm.hides(*SHOWN)])]
        code = self._code([seen], slurm, rooms)
        why = _missing(seen, rooms)
        return self._shown(
            given.form,
            notes,
            code,
            _Forms(
                lambda: "\n".join(show_view.lines(seen, head, self._today, notes, why)),
                lambda: list_view.document([seen], self._today, code, notes),
                lambda: list_view.table([list_view.row(seen, self._today)], list_view.COLUMNS),
            ),
        )

    def _report(self, given: Any, month: Month) -> Shown:
        project, head = self._one(given.name)
        slurm = self._slurm(head)
        [seen], rooms = self._look(head, slurm)
        hours = slurm.hours(month, project.name)
        own = None if hours is None else hours.get(project.name, {})
        runs, private = slurm.runs(month, project.name), slurm.hides(*SHOWN)
        report = Report(seen, month, own, runs, bool(private))
        notes = [*slurm.notes, *_silent(rooms), *filter(None, [private])]
        code = self._code([], slurm, rooms)
        return self._shown(
            given.form,
            notes,
            code,
            _Forms(
                lambda: "\n".join(report_view.lines(report, notes)),
                lambda: report_view.document(report, code, notes),
                lambda: report_view.users_table(report),
            ),
        )

    def _report_all(self, given: Any, month: Month) -> Shown:
        head = self._read(None)
        slurm = self._slurm(head)
        seen, rooms = self._look(head, slurm)
        hours, private = slurm.hours(month), slurm.hides("usage")
        reports = [
            Report(one, month, None if hours is None else hours.get(one.project.name, {}), only_own=bool(private))
            for one in seen
        ]
        notes = [*slurm.notes, *_silent(rooms), *filter(None, [private])]
        # sums of a part of the people are no invoice
        code = self._code([], slurm, rooms) or (WARNING if private else OK)
        return self._shown(
            given.form,
            notes,
            code,
            _Forms(
                lambda: "\n".join(report_view.all_lines(reports, month, notes)),
                lambda: report_view.all_document(reports, month, code, notes),
                lambda: report_view.all_table(reports),
            ),
        )

    def _one(self, name: str) -> tuple[Project, Site]:
        """A project, and the site with it alone. Raises NoProjects."""
        head = self._read((name,))
        if not head.projects:
            raise NoProjects(f"no project has the name {name}: drawbridge project list --all")
        return head.projects[0], head

    def _look(self, found: Site, slurm: Slurm, people: bool = False) -> tuple[list[Seen], Spaces]:
        """What Slurm and the file systems show of these projects."""
        projects = found.projects
        names = [it.name for it in projects if it.has_account]
        accounts = slurm.accounts(names, people) if names else {}
        known = accounts is not None and bool(names) and slurm.sees_all()
        usage = slurm.usage([it.own_qos for it in projects if it.own_qos and it.has_account])
        rooms = spaces(it.directory for it in projects if it.directory and it.has_account)
        held: dict[str, Account] = accounts or {}
        return [
            Seen(
                it,
                held.get(it.name),
                known,
                usage.get(it.own_qos),
                rooms.found.get(it.directory.path) if it.directory else None,
            )
            for it in projects
        ], rooms

    def _code(self, seen: Sequence[Seen], slurm: Slurm, rooms: Spaces) -> int:
        if slurm.blind or rooms.silent:
            return UNKNOWN
        return max((state.level(one, self._today) for one in seen), default=OK)

    def _shown(self, form: str, notes: Sequence[str], code: int, forms: _Forms) -> Shown:
        if form == JSON:
            return Shown(json.dumps(forms.document(), indent=1), (), code)
        return Shown(forms.table(), notes, code) if form == CSV else Shown(forms.text(), (), code)


class _Forms(NamedTuple):
    """What each form prints, made when it is wanted."""

    text: Callable[[], str]
    document: Callable[[], dict[str, Any]]
    table: Callable[[], str]


def _silent(rooms: Spaces) -> list[str]:
    return [f"{mount} did not answer in time, so space and files there are not known" for mount in rooms.silent]


def _missing(seen: Seen, rooms: Spaces) -> str:
    """Why its directory shows nothing; "" if it shows something, or has none."""
    own = seen.project.directory
    if not own or seen.space:
        return ""
    if own.mount in rooms.silent:
        return f"{own.mount} did not answer in time"
    return f"not seen on this host: {rooms.missing.get(own.path, 'stat shows nothing')}"
