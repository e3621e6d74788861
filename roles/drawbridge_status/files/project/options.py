# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The command line of `drawbridge project`. Pure."""

from __future__ import annotations

from typing import Any

CODES = "exit codes: 0 all is well, 1 look at it, 2 a person must act, 3 no answer, or no project has the name"
TEXT, JSON, CSV = "text", "json", "csv"


def add(commands: Any) -> None:
    """Add it to the commands of `drawbridge`."""
    about = "projects with their end, budget, space and files, and the report of a month"
    project = commands.add_parser("project", help=about, description=about, epilog=CODES)
    verbs = project.add_subparsers(dest="verb", required=True)
    every = "all projects, not only yours; Slurm shows what you may see"
    shown = verbs.add_parser("list", help="a line for each of your projects", epilog=CODES)
    shown.add_argument("--all", action="store_true", help=every)
    one = verbs.add_parser("show", help="everything of one project, and what happens next", epilog=CODES)
    one.add_argument("name", metavar="NAME", help="the project")
    report = verbs.add_parser("report", help="use, waits, space and the largest jobs of a month", epilog=CODES)
    which = report.add_mutually_exclusive_group(required=True)
    which.add_argument("name", nargs="?", default="", metavar="NAME", help="the project")
    which.add_argument("--all", action="store_true", help="one line for each project, without jobs and waits")
    report.add_argument("--month", default="", metavar="YYYY-MM", help="the month (this one)")
    for parser in (shown, one, report):
        forms = parser.add_mutually_exclusive_group()
        for form in (TEXT, JSON, CSV):
            forms.add_argument(
                f"--{form}", dest="form", action="store_const", const=form, default=TEXT, help=_help(form)
            )


def _help(form: str) -> str:
    return {TEXT: "print text (the default)", JSON: "print JSON", CSV: "print CSV; notes go to standard error"}[form]
