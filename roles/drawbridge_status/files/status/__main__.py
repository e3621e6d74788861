# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""drawbridge: from the command line to the exit code."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..gate.command import Commands
from ..job.text import TIMES
from ..project.command_io import Caller, Command
from ..project.site_io import NoProjects
from . import view
from .drift_io import drift, folder
from .job_io import NoReport, look
from .model import UNKNOWN, Site
from .options import parser
from .readers_io import Readers, site

CLEAR = "\x1b[H\x1b[2J"


def main(argv: Sequence[str]) -> int:
    """Run a command line on this host."""
    given = parser().parse_args(argv)
    if given.command == "drift":
        words = given.words[1:] if given.words[:1] == ["--"] else given.words
        code, said = drift(words, folder(given.state, os.environ), os.environ)
        if said:
            print(f"drawbridge: {said}", file=sys.stderr)
        return code
    if given.command == "project":
        return _project(given)
    settings, notes = site()
    if given.command == "job":
        return _job(given, settings)
    readers = Readers(Commands(), os.environ, given.kubeconfig)
    units = readers.units() if given.unit else {}
    if given.unit and given.unit not in units:
        known = ", ".join(sorted(units)) or "none"
        print(f"drawbridge: --unit {given.unit}: no unit has this name (units: {known})", file=sys.stderr)
        return UNKNOWN
    given.unit = units.get(given.unit, "")
    try:
        return _watch(given, settings, notes, readers)
    except KeyboardInterrupt:
        return 0


def _project(given: argparse.Namespace) -> int:
    """Print a list of projects, one project, or a report."""
    os.environ.update(TIMES)
    try:
        found = Command(Commands(), Caller.present()).run(given)
    except (NoProjects, ValueError) as err:
        print(f"drawbridge: {printable(str(err))}", file=sys.stderr)
        return UNKNOWN
    for note in found.notes:
        print(f"drawbridge: {printable(note)}", file=sys.stderr)
    print(printable(found.text))
    return found.code


def _own_projects(given: argparse.Namespace) -> list[dict[str, Any]]:
    """What the person should know of their own projects; not of one node, nor again every few seconds."""
    if given.nodes or given.watch:
        return []
    with contextlib.suppress(NoProjects):
        return Command(Commands(), Caller.present()).attention()
    return []


def _job(given: argparse.Namespace, settings: Site) -> int:
    """Print a job's report."""
    os.environ.update(TIMES)
    try:
        found = look(given.job, Commands(), settings, time.time())
    except NoReport as err:
        print(f"drawbridge: {printable(str(err))}", file=sys.stderr)
        return UNKNOWN
    shown = found.as_json() if given.json else found.as_text()
    print(printable(shown))
    return found.code


def _watch(given: argparse.Namespace, settings: Site, notes: tuple[str, ...], readers: Readers) -> int:
    """Print once, or until the person ends it."""
    while True:
        text, code = _once(given, settings, notes, readers)
        print(f"{CLEAR if given.watch and sys.stdout.isatty() else ''}{printable(text)}", flush=True)
        if not given.watch:
            return code
        time.sleep(given.watch)


def printable(text: str) -> str:
    """The text without control characters: jobs and their users choose names that it shows."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text)


def _once(given: argparse.Namespace, settings: Site, notes: tuple[str, ...], readers: Readers) -> tuple[str, int]:
    """One look as text, and its exit code."""
    wanted = [name for names in given.nodes for name in names]
    seen = readers.look(Path(settings.reports), wanted[0] if len(wanted) == 1 else "", settings.audit_log)
    seen = seen._replace(notes=(*notes, *seen.notes))
    found = view.rows(seen, settings, wanted, given.partition, given.unit)
    code = view.level(found, seen)
    projects = _own_projects(given)
    if given.json:
        return json.dumps({**view.document(found, seen), "projects": projects}, indent=1), code
    lines = view.explain(found[0], seen) if len(found) == 1 and wanted else view.table(found, seen)
    own = [f"project {it['project']}: {it['text']}" for it in projects]
    return "\n".join([*lines, *[""][: len(own)], *own]), code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
