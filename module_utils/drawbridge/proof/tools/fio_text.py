# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Output of fio with --output-format=json: rates of files and of metadata.

Error lines may be before the JSON. fio creates a directory that does not exist: the caller checks the mount first.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any

from ..measure import Found, Measure, Missing
from .output import document, line_with, measured, not_recognised, part, parts, stopped

DIRECTIONS = ("read", "write")


def measures(stdout: str, stderr: str, code: int, where: str, directions: Sequence[str], job: str = "") -> list[Found]:
    """For each direction "read bandwidth" in GB/s and "read operations" in ops/s; the same for write.

    The jobs of a call are one measurement: they must run at the same time, and their rates are added.
    Where they run one after the other, `job` is the name of those that count.
    With the engines filecreate, filestat and filedelete, the operations are files, and the direction is read.
    """
    why = stopped(code)
    jobs: list[Mapping[str, Any]] = []
    try:
        jobs = parts({} if why else document(stdout), "jobs")
    except ValueError:
        why = _complaint(stdout, stderr) or not_recognised(code, stdout, stderr)
    why = why or _failure(jobs, stdout, stderr, code)
    jobs = [it for it in jobs if not job or it.get("jobname") == job]
    why = why or ("" if jobs else f"the JSON has no job {job}")
    return [found for direction in directions for found in _of_direction(jobs, direction, where, why)]


def _complaint(stdout: str, stderr: str) -> str:
    """fio's own line about a failure."""
    return line_with("error=", stderr, stdout) or line_with("fio: ", stderr, stdout)


def _failure(jobs: Sequence[Mapping[str, Any]], stdout: str, stderr: str, code: int) -> str:
    if not jobs:
        return f"the JSON has no jobs: {_complaint(stdout, stderr)}".rstrip(": ")
    for job in jobs:
        number = job.get("error")
        if number != 0:
            name = errno.errorcode.get(number, str(number)) if isinstance(number, int) else "no error field"
            return f"job {job.get('jobname')} failed with {name}: {_complaint(stdout, stderr)}".rstrip(": ")
    return f"exit code {code}: {_complaint(stdout, stderr) or 'no error line'}" if code else ""


def _of_direction(jobs: Sequence[Mapping[str, Any]], direction: str, where: str, why: str) -> list[Found]:
    names = (f"{direction} bandwidth", f"{direction} operations")
    if why:
        return [Missing(name, where, why) for name in names]
    # bw_bytes is in bytes a second; bw is in KiB a second
    return [_sum(jobs, direction, *spec, where) for spec in zip(names, ("bw_bytes", "iops"), ("GB/s", "ops/s"))]


def _sum(jobs: Sequence[Mapping[str, Any]], direction: str, name: str, key: str, unit: str, where: str) -> Found:
    scale = 1e-9 if unit == "GB/s" else 1.0
    rates = [measured(name, part(job, direction).get(key), unit, where, scale) for job in jobs]
    numbers = [rate.value for rate in rates if isinstance(rate, Measure)]
    if len(numbers) < len(rates):
        return Missing(name, where, f"{len(rates) - len(numbers)} of {len(rates)} jobs did no {direction}")
    return Measure(name, sum(numbers), unit, where)
