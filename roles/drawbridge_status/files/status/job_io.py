# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`drawbridge job`: one job, from Slurm with the rights of the person who calls, and from the site's Prometheus."""

from __future__ import annotations

import json
from datetime import date
from typing import NamedTuple

from ..budget import usage, words
from ..gate.command import Commands, Result
from ..gate.hostlist import expand
from ..job import report
from ..job.lines import GROUPS, Report
from ..job.numbers import Numbers
from ..job.prometheus_io import Answers, Prometheus, answers
from ..job.queries import queries
from ..job.text import NAME, OWN, Job, accounting, jobs, queue, whole_nodes
from .model import UNKNOWN, Site
from .scontrol import fields

TIMEOUT_S = 60.0
UNSET = "the site has configured no Prometheus (drawbridge_telemetry.prometheus.url)"


class NoReport(Exception):
    """There is no job to report; the message has the reason."""


class Shown(NamedTuple):
    """A report, and the exit code that belongs to it."""

    report: Report
    line: str
    code: int

    def as_text(self) -> str:
        """For a person."""
        return "\n".join(report.text(self.report, self.line))

    def as_json(self) -> str:
        """For a program."""
        return json.dumps(report.document(self.report, self.line), indent=1)


def look(name: str, commands: Commands, settings: Site, now: float) -> Shown:
    """The report of a job. Raises NoReport."""
    job = _job(name, commands)
    found = _answers(job, settings, now)
    why = _waits(job, commands, settings, now)
    made = Report(job, now, Numbers(found.values), found.unknown, _whole(job, commands), why)
    # the line of its end stays when Prometheus has dropped the samples
    kept = job.comment if job.comment.startswith(OWN) else ""
    silent = settings.prometheus and found.unknown
    return Shown(made, kept or report.one_line(made), UNKNOWN if silent else report.level(made))


def _answers(job: Job, settings: Site, now: float) -> Answers:
    if not settings.prometheus:
        return Answers([], dict.fromkeys(GROUPS, UNSET), False)
    return answers(Prometheus(settings.prometheus, settings.prometheus_ca).ask, queries(job, now))


def _job(name: str, commands: Commands) -> Job:
    """From accounting, or from slurmctld where accounting has no such job. Raises NoReport."""
    found = _rows(commands.run(*accounting(name), timeout_s=TIMEOUT_S))
    if not found:
        result = commands.run(*queue(name), timeout_s=TIMEOUT_S)
        if result.code and "Invalid job id" not in result.err:
            raise NoReport(f"Slurm did not answer ({result.err or result.code})")
        found = _rows(result)
    own = [job for job in found if job.name == name] or found
    if not own:
        raise NoReport(f"Slurm shows you no job {name}; with PrivateData=jobs it shows users their own alone")
    if len(own) > 1:
        example = next((job.name for job in own if NAME.fullmatch(job.name)), name)
        raise NoReport(f"{name} has {len(own)} parts: name one of them, such as {example}")
    return own[0] if own[0].over else _live(own[0], commands)


def _live(job: Job, commands: Commands) -> Job:
    """A job that is not over, from slurmctld: accounting does not know why it waits."""
    found = _rows(commands.run(*queue(job.name), timeout_s=TIMEOUT_S))
    return next((one for one in found if one.name == job.name), job)


def _rows(result: Result) -> list[Job]:
    return [] if result.code else jobs(result.out, expand)


def _waits(job: Job, commands: Commands, settings: Site, now: float) -> str:
    """Why a job waits for a budget, or for a limit of its account; "" for other jobs."""
    if job.over or job.started:
        return ""
    if job.reason not in words.RESOURCES:
        return words.REASONS.get(job.reason, "")
    shown = commands.run("squeue", "--noheader", f"--jobs={job.name}", "--format=%q", timeout_s=TIMEOUT_S).out
    qos = shown.strip().partition("\n")[0]
    found = usage.parsed(commands.run(*usage.command([qos]), timeout_s=TIMEOUT_S).out)
    today = date.fromtimestamp(now)
    return words.waits(job.reason, qos, found.get(qos), words.period(settings.budgets, qos), today)


def _whole(job: Job, commands: Commands) -> bool:
    """Whether the job's partition gives each job whole nodes; False if Slurm does not say."""
    result = commands.run("scontrol", "show", "partition", job.partition, "-o", timeout_s=TIMEOUT_S)
    return not result.code and whole_nodes(fields(result.out))
