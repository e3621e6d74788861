# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A job's report: for a person, as one line for AdminComment, and as plain data. Pure."""

from __future__ import annotations

import re
from typing import Any

from .lines import VERBS, Report, lines
from .numbers import amount, duration, percent
from .text import OWN, Job

VERSION = 1
"""Of the JSON's shape."""
MOST = 250
"""Characters of the one line."""


def heading(job: Job) -> str:
    """Whose job it is."""
    account = f", account {job.account}" if job.account else ""
    return f"job {job.name} of {job.user}, partition {job.partition}{account}"


def one_line(report: Report) -> str:
    """The report for AdminComment: ASCII without quotes, at most MOST characters; empty without any number."""
    numbers, job = report.numbers, report.job
    words = []
    if (busy := numbers.get("busy")) is not None:
        words.append(f"GPU {percent(busy)} busy")
    if (least := numbers.get("least_busy")) is not None and (numbers.get("gpus") or 0) > 1:
        words[-1] += f" (least {percent(least)}: {numbers.gpu('least_busy')})"
    if (memory := numbers.get("memory")) is not None:
        words.append(f"memory {percent(memory)}")
    if power := numbers.get("power"):
        words.append(f"{power:.0f} W")
    if (sent := numbers.get("sent")) is not None:
        words.append(f"{amount(sent)}/s sent by a rail")
    words += [f"{name} {amount(rate)}/s" for name in VERBS if (rate := sum(it.value for it in numbers.all(name))) >= 1]
    if not words:
        return ""
    times = f"waited {duration(job.wait_s(report.now))}, ran {duration(job.run_s(report.now))}"
    text = f"{OWN}{', '.join([*words, times])}{'' if report.whole else ' (shared nodes)'}"
    for hint in report.hints:
        longer = f"{text}; {hint.text}"
        if len(longer) > MOST:
            break
        text = longer
    return plain(text)


def plain(text: str) -> str:
    """Characters that sacctmgr takes as they are. A name of a file system may have others."""
    return re.sub(r"[^ -~]|[\"'`\\=]", "?", text)[:MOST]


def level(report: Report) -> int:
    """The worst hint's level; 0 without one."""
    return max((hint.level for hint in report.hints), default=0)


def text(report: Report, line: str) -> list[str]:
    """The report for a person."""
    shown = lines(report)
    width = max(len(one.name) for one in shown)
    found = [heading(report.job), *([line] if line else []), ""]
    for one in shown:
        found.append(f"{one.name.ljust(width)}  {one.text}")
        found += [f"{' ' * width}  hint: {hint.text}" for hint in one.hints]
    return found


def document(report: Report, line: str) -> dict[str, Any]:
    """Everything as plain data."""
    job = report.job
    return {
        "version": VERSION,
        "level": level(report),
        "job": {name: getattr(job, name) for name in ("name", "number", "user", "account", "partition", "state")},
        "exit_code": job.exit_code,
        "nodes": list(job.nodes),
        "gpus": job.gpus,
        "whole_nodes": report.whole,
        "seconds": {"waited": job.wait_s(report.now), "ran": job.run_s(report.now), "limit": job.limit_s},
        "started": job.started,
        "ended": job.ended,
        "line": line,
        "numbers": report.numbers.data(),
        "unknown": dict(report.unknown),
        "lines": [
            {"name": it.name, "text": it.text, "hints": [one._asdict() for one in it.hints]} for it in lines(report)
        ],
    }
